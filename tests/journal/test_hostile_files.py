"""Files made to hurt whoever reads them: refused, at a cost that their size bounds (F10)."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from hippo_async.errors import JournalCorrupt, JournalError, JournalLocked
from hippo_async.journal.codec import MAX_LINE_BYTES, commitment_of, encode_header, open_line

if TYPE_CHECKING:
    from conftest import Store

SIZE = 1 << 20
CPU_SECONDS = 5  # what takes moments here takes minutes if the cost grows with the square of the size
END = b'},"id":"'  # what a reader looks for to find the end of a header


def header_of(value: bytes) -> bytes:
    """The beginning of a line whose header is about as long as a bomb is large."""
    return b'{"header":{"agent_id":"agent","v":' + value + END


BOMBS: dict[str, Callable[[], bytes]] = {
    "brackets": lambda: b"[" * SIZE,
    "nested header": lambda: header_of(b"[" * SIZE),
    "nested objects": lambda: header_of(b'{"a":' * (SIZE // 5)),
    "5,000 digits": lambda: header_of(b"9" * 5000),
    "digits": lambda: header_of(b"9" * SIZE),
    "exponent": lambda: header_of(b"1e" + b"9" * SIZE),
    "a key many times": lambda: header_of(b"1" + b',"v":1' * (SIZE // 6)),
    "quotes": lambda: header_of(b'"' * SIZE),
    "backslashes": lambda: header_of(b'"' + b"\\" * SIZE),
    "bad UTF-8": lambda: header_of(b'"' + b"\xff\xfe" * (SIZE // 2) + b'"'),
    "byte order marks": lambda: b"\xef\xbb\xbf" * (SIZE // 3),
    "newlines": lambda: b"\n" * SIZE,
    "ends of headers": lambda: END * (SIZE // 8),
    "beginnings of lines": lambda: b'{"header":{' * (SIZE // 11),
}
bombs = pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)


@contextmanager
def bounded(size: int = SIZE) -> Iterator[None]:
    """Fail if what is done takes much more memory than the file has bytes, or time without end."""
    started = time.process_time()
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * size, f"{peak / size:.1f} times the size of the file"
    assert time.process_time() - started < CPU_SECONDS


def first_line(store: Store) -> bytes:
    data = store.live.read_bytes()
    return data[: data.index(b"\n") + 1]


@bombs
def test_a_bomb_for_a_segment_is_refused(twenty: Store, bomb: Callable[[], bytes]) -> None:
    """In the place of the first line, where even the journal's id is not known yet, and behind a good one."""
    genesis = first_line(twenty)
    for before, behind in [(b"", b""), (b"", b"\n"), (genesis, b""), (genesis, b"\n")]:
        twenty.live.write_bytes(before + bomb() + behind)
        with bounded():
            twenty.check_refused(JournalError)


@bombs
@pytest.mark.parametrize("name", ["HEAD", "gen-000001/SEGMENTS", "CURRENT"])
def test_a_bomb_for_a_small_file_is_refused(twenty: Store, name: str, bomb: Callable[[], bytes]) -> None:
    (twenty.root / name).write_bytes(bomb())
    with bounded():
        twenty.check_refused(JournalError)


@bombs
def test_a_bomb_for_the_witness_is_reported_and_for_the_holder_ignored(
    twenty: Store, bomb: Callable[[], bytes]
) -> None:
    """Neither holds a record: an attacker who can write there can delete them as well."""
    witness = twenty.witness / twenty.report().journal_id
    for path in (witness, twenty.root / "LOCK.holder"):
        path.write_bytes(bomb())
    with bounded():
        notes = twenty.report().notes
        written = twenty.write(["goes on"])
    assert any("witness" in note for note in notes)
    assert written[0].seq == 20


def test_a_bomb_in_place_of_the_holder_does_not_reach_who_finds_the_journal_locked(twenty: Store) -> None:
    """Through a hard link to the same lock, as it is not this process's own registry that refuses."""
    other = twenty.copy_to(twenty.base.with_name("other"))
    (other.root / "LOCK").unlink()
    with twenty.opened(), bounded():
        (other.root / "LOCK").hardlink_to(twenty.root / "LOCK")
        (other.root / "LOCK.holder").write_bytes(b'{"pid":' + b"[" * SIZE)
        with pytest.raises(JournalLocked, match="another process"):
            other.journal().open()


def test_a_line_that_is_longer_than_any_may_be_is_refused_although_it_is_sealed(twenty: Store) -> None:
    """Only the key's holder can make one. A reader in another language relies on the bound."""
    sealer = twenty.sealers().record
    last = twenty.live.read_bytes().splitlines(keepends=True)[-1]
    header, frame = open_line(last, sealer)
    payload = b'{"content":"' + b"x" * MAX_LINE_BYTES + b'","metadata":{},"salt":"' + b"0" * 32 + b'"}'
    stored = encode_header(
        header._replace(
            seq=header.seq + 1, prev_id=frame.record_id.decode(), commitment=commitment_of(payload)
        ),
        agent_json='"agent"',
    )
    line = last.replace(frame.header, stored).replace(frame.payload, payload)
    line = line.replace(frame.seal, sealer.seal(stored).encode())
    with twenty.live.open("ab") as file:
        file.write(line)
    with bounded(len(line)):
        assert twenty.check_refused(JournalCorrupt).seq == 20
