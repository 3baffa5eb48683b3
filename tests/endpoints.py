"""Models of somebody's, on loopback."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

type Told = Callable[[Mapping[str, Any]], tuple[int, bytes]]
"""What a call's body is answered with: a status, and JSON or what is none."""


@contextmanager
def endpoint(told: Told) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and the `model` and `key` of every call that it heard."""
    heard: list[dict[str, Any]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            heard.append({"model": body["model"], "key": self.headers["authorization"]})
            status, data = told(body)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with suppress(ConnectionError):  # of whoever has heard enough
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
