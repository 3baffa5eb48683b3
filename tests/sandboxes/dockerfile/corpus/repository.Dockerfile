FROM node:20-bookworm
ARG COMMIT=0123456789abcdef
WORKDIR /work/repo
RUN git clone https://github.com/somebody/something.git . && git checkout ${COMMIT}
RUN npm ci --ignore-scripts || true
COPY data/fix.patch /tmp/
RUN patch -p1 < /tmp/fix.patch && rm /tmp/fix.patch
