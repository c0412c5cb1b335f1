"""An HTTP server on 127.0.0.1 whose answers a test writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Asked(NamedTuple):
    """One request that came in."""

    path: str
    content_type: str
    body: bytes


@dataclass
class LocalServer:
    """What was asked, and what is answered: ``answer`` maps a request to a status and a body."""

    port: int
    answer: Callable[[Asked], tuple[int, bytes]] = lambda _: (200, b"")
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/anchors"


@contextmanager
def serving(port: int = 0) -> Iterator[LocalServer]:
    """Serve POST requests, each in a thread of its own; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = Asked(self.path, self.headers["Content-Type"], body)
            local.asked.append(asked)
            status, answer = local.answer(asked)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with suppress(BrokenPipeError):  # whoever asked may be gone: that is what some tests are about
                self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    local = LocalServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield local
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
