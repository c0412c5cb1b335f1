"""Who anchors are published by: the contract, and three that are shipped (J12).

The fourth, a time-stamping authority, is in :mod:`hippo_async.anchors.timestamp`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio.to_thread
from pydantic import JsonValue

from hippo_async.anchors.day import AnchoredDay
from hippo_async.anchors.web import Endpoint
from hippo_async.errors import InvalidInput
from hippo_async.files import AppendFile, Files
from hippo_async.journal.canon import canonical

HTTP_SECONDS = 30.0
SHOWN_ANSWER = 2000


class Publisher(Protocol):
    """Publishes the anchor of a day where others can see it. Users may write their own.

    ``name`` is kept in the ledger: a day is offered to a name until there is a receipt of it, so it must stay
    the same from run to run. ``publish`` returns the receipt, JSON values, once the anchor is published for
    good; whatever it raises is noted, and the day is offered again later. It may be offered a day twice if a
    crash kept the receipt from being noted, and should not mind. Only hashes are to leave the store.
    """

    @property
    def name(self) -> str: ...

    async def publish(self, day: AnchoredDay) -> Mapping[str, JsonValue]: ...


class FilePublisher:
    """Appends one line of canonical JSON a day to a file: the date and the two hashes.

    When it has published, the line is durable, and there once, also if an earlier run was cut off in it.
    """

    def __init__(self, path: Path, *, name: str | None = None, files: Files | None = None) -> None:
        self.name: str = name or f"file {path.absolute()}"
        self._path = path
        self._files = files or Files()

    async def publish(self, day: AnchoredDay) -> Mapping[str, JsonValue]:
        """Append the day's line if it is not there. Raises ``OSError``."""
        await anyio.to_thread.run_sync(self._append, canonical(day.hashes) + b"\n")
        return {}

    def _append(self, line: bytes) -> None:
        self._files.mkdir(self._path.parent)
        kept = self._files.read(self._path) if self._files.exists(self._path) else b""
        file = AppendFile(self._files, self._path)
        try:
            file.write(_missing(kept, line))
            file.sync()
        finally:
            file.close()


class PostPublisher:
    """Posts a JSON object with the date and the two hashes to an address; needs the extra ``timestamp``.

    Any answer of 2xx is taken for a yes; its status and the start of its text are the receipt. The name is
    the address without user, password and query, unless one is given.
    """

    def __init__(self, url: str, *, name: str | None = None, seconds: float = HTTP_SECONDS) -> None:
        self._endpoint = Endpoint(url, seconds)
        self.name: str = name or f"post {self._endpoint.shown}"

    async def publish(self, day: AnchoredDay) -> Mapping[str, JsonValue]:
        """Post the day. Raises :class:`PublishFailed`."""
        answer = await self._endpoint.post(canonical(day.hashes), content_type="application/json")
        return {"status": answer.status, "answer": answer.body.decode(errors="replace")[:SHOWN_ANSWER]}


@dataclass(frozen=True, slots=True)
class MontanaAnchor:
    """The one operation that is asked of the outside chain, ``Anchor`` (J12).

    ``agent_account`` is the agent's account there. ``daily_dna_hash`` is the 32 bytes of J11's
    ``anchor_payload_hash``: nothing else of the day goes to the chain. ``window_index`` is the chain's window
    as of which the anchor is fixed.
    """

    agent_account: str
    daily_dna_hash: bytes
    window_index: int


def montana_anchor(day: AnchoredDay, *, agent_account: str, window_index: int) -> MontanaAnchor:
    """Make the operation that anchors a day on the chain (J12). Pure.

    Raises :class:`InvalidInput` without an account, or for a window before the first.
    """
    if not agent_account or window_index < 0:
        raise InvalidInput(f"an anchor of account {agent_account!r} in window {window_index}")
    return MontanaAnchor(agent_account, bytes.fromhex(day.anchor_payload_hash), window_index)


class MontanaPublisher:
    """Anchors days on the Montana chain, by a connection that the user brings along (J12).

    ``window`` says which window of the chain is open now. ``send`` carries the operation there and returns
    the receipt once it is final; it may be given the same account and hash twice, in different windows.
    """

    def __init__(
        self,
        agent_account: str,
        *,
        window: Callable[[], Awaitable[int]],
        send: Callable[[MontanaAnchor], Awaitable[Mapping[str, Any]]],
        name: str | None = None,
    ) -> None:
        self.name: str = name or f"montana {agent_account}"
        self._account = agent_account
        self._window = window
        self._send = send

    async def publish(self, day: AnchoredDay) -> Mapping[str, JsonValue]:
        """Hand the day's operation over. Raises what ``window`` and ``send`` raise."""
        index = await self._window()
        operation = montana_anchor(day, agent_account=self._account, window_index=index)
        return {"window_index": index, **await self._send(operation)}


def _missing(kept: bytes, line: bytes) -> bytes:
    """Return what has to be added to a file for ``line`` to be in it, whole and once."""
    *lines, torn = kept.split(b"\n")
    if line[:-1] in lines:
        return b""
    if line.startswith(torn):
        return line[len(torn) :]
    return b"\n" + line
