FROM debian:12 AS build
WORKDIR /src
COPY data/main.c .
RUN gcc -O2 -o /out main.c

FROM debian:12-slim
COPY --from=build --chmod=755 /out /usr/local/bin/tool
ENTRYPOINT ["/usr/local/bin/tool"]
