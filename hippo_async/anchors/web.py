"""One HTTP POST with an end in sight: a limit on the time, and on what is read of the answer."""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from hippo_async.errors import InvalidInput, MissingExtra, PublishFailed

EXTRA = "timestamp"
MAX_ANSWER = 1 << 16


class Answer(NamedTuple):
    """What a server answered: a status of 2xx, and up to 64 KiB of the body."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to post to.

    Raises :class:`InvalidInput` for what is no address of HTTP, :class:`MissingExtra` without ``httpx``.
    """

    url: str = field(repr=False)  # it may hold a password or a token
    seconds: float

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
        except ValueError as error:
            raise InvalidInput(f"not an address to post to: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{self.shown}: not an http or https address")
        require("httpx", needed_for="posting an anchor")

    @property
    def shown(self) -> str:
        """The address without user, password and query: fit to be kept and read."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    async def post(self, body: bytes, *, content_type: str) -> Answer:
        """Post ``body`` and return the answer; redirects are not followed.

        Raises :class:`PublishFailed` if the server cannot be reached, answers with anything but 2xx, or has
        not answered in time.
        """
        certificates = await anyio.to_thread.run_sync(_certificates)  # which imports httpx, off the loop
        import httpx

        try:
            with anyio.fail_after(self.seconds):
                answer = await self._post(body, content_type, certificates)
        except TimeoutError:
            raise PublishFailed(self.shown, f"no answer within {self.seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise PublishFailed(self.shown, str(error) or type(error).__name__) from error
        if not 200 <= answer.status < 300:
            raise PublishFailed(self.shown, f"the server answered {answer.status}")
        return answer

    async def _post(self, body: bytes, content_type: str, certificates: ssl.SSLContext) -> Answer:
        import httpx

        async with (
            httpx.AsyncClient(verify=certificates, timeout=self.seconds) as client,
            client.stream("POST", self.url, content=body, headers={"Content-Type": content_type}) as answer,
        ):
            return Answer(answer.status_code, await _start_of(answer.aiter_bytes()))


def require(package: str, *, needed_for: str) -> None:
    """Raise :class:`MissingExtra` if a package of the extra ``timestamp`` is not installed."""
    if find_spec(package) is None:
        raise MissingExtra(EXTRA, needed_for)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The roots that HTTPS is trusted by. Reads files; once a process."""
    import httpx

    return httpx.create_ssl_context()


async def _start_of(pieces: AsyncIterator[bytes]) -> bytes:
    start = b""
    async for piece in pieces:
        start += piece
        if len(start) >= MAX_ANSWER:
            break
    return start[:MAX_ANSWER]
