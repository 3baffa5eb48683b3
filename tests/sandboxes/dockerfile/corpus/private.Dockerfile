FROM debian:12
RUN apt-get update
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci
