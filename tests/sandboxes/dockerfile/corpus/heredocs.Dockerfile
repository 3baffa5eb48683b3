FROM debian:12
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
RUN <<SETUP
mkdir -p /app
echo "${HOME}" > /app/home
SETUP
RUN <<'TRACE' cat > /root/trace.py && chmod +x /root/trace.py
print("FROM nowhere")
TRACE
COPY <<-END /etc/app.conf
	name = app
END
