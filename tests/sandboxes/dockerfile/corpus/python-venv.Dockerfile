# syntax=docker/dockerfile:1
ARG PYTHON=3.12
FROM python:${PYTHON}-slim-bookworm
ARG WORKERS=2
COPY --from=ghcr.io/astral-sh/uv:0.8.15 /uv /uvx /usr/local/bin/
ENV VIRTUAL_ENV=/opt/venv
ENV PATH="$VIRTUAL_ENV/bin:$PATH" WORKERS=${WORKERS:-1}
RUN --mount=type=cache,target=/root/.cache/uv \
    uv venv "$VIRTUAL_ENV" && uv pip install numpy==2.0.2 pytest
RUN useradd -m agent && mkdir -p /logs && chown agent /logs
USER agent
WORKDIR /home/agent
COPY --chown=agent:agent . .
