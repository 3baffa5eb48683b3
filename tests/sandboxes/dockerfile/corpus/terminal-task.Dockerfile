# A task for an agent in a terminal: packages, a folder, its data.
FROM ubuntu:24.04

ENV DEBIAN_FRONTEND=noninteractive \
    LANG=C.UTF-8

RUN apt-get update && apt-get install -y --no-install-recommends \
    # what the agent works with
    python3 \
    tmux \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY data ./data
COPY .config /root/
RUN echo -n "$((1<<4))" > /app/sixteen
CMD ["bash"]
