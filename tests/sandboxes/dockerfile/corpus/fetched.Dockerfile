FROM debian:12
ADD --chmod=644 \
    https://example.org/data.tar.gz /data/
