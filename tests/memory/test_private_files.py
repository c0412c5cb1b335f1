"""Who can get at what a memory writes: its owner, whatever the umask, and nobody else (F45)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hippo_async import Hippocampus, Settings

MakeMemory = Callable[..., Hippocampus]
EVERYTHING = Settings.from_mapping({"capture": {"flush_seconds": 0.01}, "raw": {"mode": "all"}})
OTHERS_READ, OTHERS_WRITE, OTHERS_PASS = 0o044, 0o022, 0o011


@contextmanager
def masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def within_reach(directory: Path) -> Iterator[tuple[Path, int]]:
    """Yield what others can get to below a directory they can pass, and its mode."""
    for path in directory.iterdir():
        mode = stat.S_IMODE(path.stat().st_mode)
        yield path, mode
        if path.is_dir() and mode & OTHERS_PASS:
            yield from within_reach(path)


def found_by_others(directory: Path) -> list[str]:
    """The files below a directory that others can read or write, and the directories they can write to."""
    return [
        f"{path.relative_to(directory)} {mode:o}"
        for path, mode in within_reach(directory)
        if mode & OTHERS_WRITE or (mode & OTHERS_READ and path.is_file())
    ]


def write_something(memory: Hippocampus) -> None:
    with memory:
        memory.capture("The key stays under the pot, number 4711.", session="s").wait(20)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_others_can_read_and_write_nothing_of_a_memory_whatever_the_umask(
    make_memory: MakeMemory, tmp_path: Path, umask: int
) -> None:
    """Journal, key, index, raw box and witness, all of them new."""
    with masked(umask):
        write_something(make_memory(settings=EVERYTHING))
    names = {path.name for path in tmp_path.rglob("*")}
    assert {"agent.key", "HEAD", "index.sqlite", "raw", "witness"} <= names
    assert found_by_others(tmp_path) == []


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_nor_of_one_in_a_directory_that_was_there_and_that_everybody_can_look_into(
    make_memory: MakeMemory, tmp_path: Path, umask: int
) -> None:
    for name in ("store", "witness"):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name).chmod(0o755)
    with masked(umask):
        write_something(make_memory(settings=EVERYTHING))
    assert found_by_others(tmp_path) == []
