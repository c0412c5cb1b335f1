"""After an erasure no file holds the text, in whatever script it is and wherever it stood in the record."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doors import shown

from hippo_async import Hippocampus, Record, Turn
from hippo_async.index import analyzer

MakeMemory = Callable[..., Hippocampus]

AT_ONCE = {"delete": {"grace_hours": 0}}
SECRETS = {
    "ascii": "zanzibarquokka",
    "cjk": "鼯鱂鼴龘",
    "emoji": "🦘🧿🪬🫧",
    "composed": "qüöŝķǻ",
    "decomposed": unicodedata.normalize("NFD", "qüöŝķǻ"),
    "quotes": "zan\"zib\\ar'quok/ka",
    "newlines": "zanzib\r\nquok\u2028ka\tend",
    "cyrillic": "Квоккозавръ",
    "wide": "ＺＡＮＺＩquokka",  # full width
    "looks escaped": "zanzib\\u0041\\nquokka",
}
Write = Callable[[Hippocampus, str], Any]


async def _as_checkpoint(memory: Hippocampus, secret: str) -> Record:
    await memory.checkpoint(secret, "packed", progress=10)
    [newest] = await memory.latest(n=1)
    return newest


async def _remembered(memory: Hippocampus, text: str = "a plain word", **labels: Any) -> Record:
    return (await memory.remember(text, **labels)).record


PLACES: dict[str, Write] = {
    "text": lambda memory, secret: memory.record(f"my {secret} is", role="user", session="s"),
    "memory": lambda memory, secret: _remembered(memory, f"my {secret} is"),
    "tag": lambda memory, secret: _remembered(memory, tags=[secret, "home"]),
    "speaker": lambda memory, secret: memory.record("hello there", role="user", speaker=secret),
    "session": lambda memory, secret: memory.record("hello there", role="user", session=secret),
    "scope": lambda memory, secret: memory.record("hello there", role="user", scope=("ann", secret)),
    "metadata": lambda memory, secret: _remembered(memory, metadata={"a": [{secret: secret}]}),
    "medium": lambda memory, secret: _remembered(
        memory, media_url=f"https://a.org/{secret}", media_type="image"
    ),
    "key": lambda memory, secret: memory.record("hello there", role="user", key=f"id {secret}"),
    "task": _as_checkpoint,
}


def forms(secret: str) -> Iterator[bytes]:
    """Yield a text as it may stand in a file: as it is, or as a JSON string in UTF-8 or in ASCII."""
    for form in ("NFC", "NFD", "NFKC"):
        for text in (normal := unicodedata.normalize(form, secret), normal.casefold()):
            yield text.encode()
            yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
            yield json.dumps(text)[1:-1].encode()


def traces(secret: str) -> set[bytes]:
    """All by which a secret is found: its forms, and those of its index terms that are its own."""
    terms = {term.encode() for term in analyzer.terms(secret)}
    return {*forms(secret), *(term for term in terms if len(term) > 5)}


def holding(folder: Path, pieces: set[bytes]) -> list[tuple[str, bytes]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(path.name, piece) for path in files for piece in sorted(pieces) if piece in path.read_bytes()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
async def test_what_was_erased_is_in_no_file_in_any_form(
    make_memory: MakeMemory, tmp_path: Path, secret: str, place: str
) -> None:
    store = tmp_path / "store"
    async with make_memory(AT_ONCE) as memory:
        before = await memory.record("The kettle is blue.", role="user", session="s")
        said = await PLACES[place](memory, secret)
        await memory.record("It goes on.", role="user", session="s")
        turns = [
            Turn("user", one.text, 9, name=one.speaker, record_id=one.record_id) for one in (before, said)
        ]
        await memory.fold(turns, session="s")
        assert holding(store, {*forms(secret)}), "it was never there"
        identity = said.metadata.get("identity", {})
        hashes = {str(identity.get(name, "-" * 99)).encode() for name in ("content_hash", "event_id")}
        await memory.forget(said.record_id, scope=said.scope)
        assert holding(store, traces(secret) | hashes) == []
        assert secret not in await shown(memory, "hello packed plain", clock=memory._tools.clock)  # type: ignore[arg-type]
        assert (await memory.verify_chain()).intact
        [_] = await memory.pending_deletes(scope=said.scope)
    async with make_memory(AT_ONCE) as memory:
        await memory.record("And on.", role="user", session="s")
        assert holding(store, traces(secret) | hashes) == []
