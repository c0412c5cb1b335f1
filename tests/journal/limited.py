"""What runs in a process that comes to the end of something: ``limited.py WHAT ROOT …``.

Says on standard output, a line each, what became of every append.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from hippo_async.errors import JournalError
from hippo_async.journal import Journal, Key
from hippo_async.records import Draft

SECONDS = 30
LARGE = 14_000_000  # characters; a line of them is just not too long


def journal_at(root: str, *, segment_bytes: int = 1 << 20) -> Journal:
    base = Path(root)
    return Journal(
        base / "journal",
        agent_id="agent",
        key=Key(bytes(range(32))),
        witness=base / "witness",
        segment_bytes=segment_bytes,
    )


def append(journal: Journal, *drafts: Draft) -> bool:
    """Append one group; say which record of it came first, or what was raised and why."""
    try:
        [appended, *_] = journal.append(drafts).result(SECONDS)
    except (OSError, MemoryError, JournalError) as error:
        cause = error.__cause__ or error
        print(type(error).__name__, getattr(cause, "errno", None), flush=True)
        return False
    print("acknowledged", appended.record.seq, flush=True)
    return True


@contextmanager
def limited(what: int, soft: int) -> Iterator[None]:
    before = resource.getrlimit(what)
    resource.setrlimit(what, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def file_size(root: str) -> None:
    """Append until a file may not grow; then once more."""
    with closing(journal_at(root)) as journal:
        journal.open()
        [live] = Path(root).glob("journal/gen-*/seg-*.jsonl")
        with limited(resource.RLIMIT_FSIZE, live.stat().st_size + 5000):
            while append(journal, Draft("a text that fits " * 10)):
                pass
            append(journal, Draft("and another one"))


def memory(root: str, megabytes: str) -> None:
    """Append a group that no memory is left for, then a small one, then another after opening again."""
    # A fraction keeps the metadata, and so the text, away from the native serialiser (orjson), which takes
    # the process down where an allocation fails.
    draft = Draft("x" * LARGE, metadata={"fraction": 0.5})
    journal = journal_at(root)
    journal.open()
    append(journal, Draft("before"))
    with limited(resource.RLIMIT_AS, size_of_this_process() + int(megabytes) * 1_000_000):
        append(journal, *[draft] * 12)
        append(journal, Draft("small"))
    with suppress(OSError):
        journal.close()
    journal.open()
    append(journal, Draft("after"))
    journal.close()


def size_of_this_process() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def descriptors(root: str) -> None:
    """Append without a descriptor left: to the live segment, then where a new one is due. Then open again."""
    journal = journal_at(root, segment_bytes=2000)
    without_journal = first_free_descriptor()
    journal.open()
    with limited(resource.RLIMIT_NOFILE, first_free_descriptor()):
        while append(journal, Draft("a text " * 10)):
            pass
        append(journal, Draft("and another one"))
    journal.close()
    with limited(resource.RLIMIT_NOFILE, without_journal):
        try:
            journal.open()
        except OSError as error:
            print("not opened", error.errno, flush=True)
    journal.open()
    append(journal, Draft("after"))
    journal.close()


def first_free_descriptor() -> int:
    free = os.dup(0)
    os.close(free)
    return free


if __name__ == "__main__":
    programs: dict[str, Callable[..., None]] = {
        "file_size": file_size,
        "memory": memory,
        "descriptors": descriptors,
    }
    programs[sys.argv[1]](*sys.argv[2:])
