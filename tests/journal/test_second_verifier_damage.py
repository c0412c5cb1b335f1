"""The second verifier and the package judge journals alike that are damaged at random (J18).

A few hundred journals; 10,000 where the environment variable ``HIPPO_LONG`` is set.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from journal_vectors import VECTORS, table
from two_verifiers import AGENT, MASTER, Tree, by_package, by_script, lay_out, second, stored, tree_of

from hippo_async.files import Files
from hippo_async.journal import Journal, Key
from hippo_async.journal.v1 import V1Journal
from hippo_async.records import Draft, Kind
from hippo_async.testing import FakeClock

LONG = "HIPPO_LONG" in os.environ
DAMAGED_V2 = 10_000 if LONG else 400
DAMAGED_V1 = 2_000 if LONG else 200
V1 = table("v1")

# --- sound journals -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """A sound journal, and the same at an earlier moment: what a rollback would put back."""

    now: Tree
    before: Tree


def write(base: Path, texts: range, *, segment_bytes: int, last: str | None = None) -> Tree:
    """Continue the journal in a directory, each record a group of its own; return what is there then."""
    journal = Journal(
        base / "journal",
        agent_id=AGENT,
        key=Key(MASTER),
        witness=base / "witness",
        clock=FakeClock(),
        segment_bytes=segment_bytes,
    )
    with closing(journal):
        journal.open()
        ids = [
            journal.append([Draft(f"запись {number} " * (number % 5 + 1))]).result(20)[0].record.record_id
            for number in texts
        ]
        if last == "purge":
            purge = Draft("purge", Kind.STATE, metadata={"hippo": {"records": sorted(ids[-4:-1:2])}})
            journal.append([purge], record_type="purge").result(20)
        elif last == "close":
            following = {"next": {"epoch": 1, "journal_id": "ab" * 16}}
            close = Draft("close", Kind.IDENTITY_CHANGE, metadata={"hippo": following})
            journal.append([close], record_type="close").result(20)
    return tree_of(base / "journal", base / "witness")


def without_payloads(tree: Tree) -> Tree:
    """Take the payload from the records that the last line of the live segment names as purged."""
    live = max(name for name in tree if "/seg-" in name)
    *lines, purge = tree[live].splitlines(keepends=True)
    record_ids = json.loads(purge)["payload"]["metadata"]["hippo"]["records"]
    for index, line in enumerate(lines):
        parts = json.loads(line)
        if parts["id"] in record_ids:
            start, end = line.index(b',"payload":') + 11, line.rindex(b',"seal":')
            lines[index] = line[:start] + b"null" + line[end:]
    assert lines != tree[live].splitlines(keepends=True)[:-1]
    return {**tree, live: b"".join([*lines, purge])}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Base]:
    """Journals of the package, of one segment and of several, purged and closed, and those of the vectors."""
    made = []
    chance = random.Random(0)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr("secrets.token_hex", lambda size: chance.randbytes(size).hex())
    monkeypatch.setattr("secrets.token_bytes", chance.randbytes)  # so that a seed means the same each time
    for name, segment_bytes, last in [
        ("single", 1 << 20, None),
        ("segmented", 1500, None),
        ("purged", 1 << 20, "purge"),
        ("closed", 2500, "close"),
    ]:
        place = tmp_path_factory.mktemp(name)
        before = write(place, range(6), segment_bytes=segment_bytes)
        now = write(place, range(6, 11), segment_bytes=segment_bytes, last=last)
        made.append(Base(without_payloads(now) if last == "purge" else now, before))
    plain, purged, unpurged = map(stored, ("plain", "purged", "unpurged"))
    return [*made, Base(plain, plain), Base(purged, unpurged)]


# --- damage ---------------------------------------------------------------------------------------

Damage = Callable[[bytes, random.Random], bytes]


def two_places(data: bytes, chance: random.Random) -> tuple[int, int]:
    """Two offsets in order: any, or such at which lines begin."""
    lines = [0, *(at + 1 for at, byte in enumerate(data) if byte == 0x0A)]
    places = lines if len(lines) > 1 and chance.random() < 0.5 else range(len(data) + 1)
    first, second = sorted(chance.choices(places, k=2))
    return first, second


def flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 4])):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: two_places(data, chance)[chance.randrange(2)]]


def take_out(data: bytes, chance: random.Random) -> bytes:
    start, end = two_places(data, chance)
    return data[:start] + data[end:]


def double(data: bytes, chance: random.Random) -> bytes:
    start, end = two_places(data, chance)
    return data[:end] + data[start:end] + data[end:]


def swap(data: bytes, chance: random.Random) -> bytes:
    (first, second), (third, fourth) = sorted([two_places(data, chance), two_places(data, chance)])
    if second > third:
        return data[:first] + data[second:] + data[first:second]
    return data[:first] + data[third:fourth] + data[second:third] + data[first:second] + data[fourth:]


def zero_sectors(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) // 512 + 1) * 512
    size = min(512 * chance.randint(1, 3), len(data) - start)
    return data[:start] + bytes(size) + data[start + size :]


def grow(data: bytes, chance: random.Random) -> bytes:
    """Add the remains of a write: zeros, a piece of a line, with or without holes and a newline."""
    start, end = two_places(data, chance)
    holes = bytes(chance.choice([0, 1, 700, 1100]))
    return (
        data
        + chance.choice([data[start:end], data[start:end].rstrip(b"\n"), b""])
        + holes
        + chance.choice([b"", b"\n"])
    )


def overwrite(data: bytes, chance: random.Random) -> bytes:
    start, end = two_places(data, chance)
    end = min(end, start + 40)
    return data[:start] + chance.randbytes(end - start) + data[end:]


DAMAGES: list[Damage] = [flip, flip, cut, take_out, double, swap, zero_sectors, grow, overwrite]


def damage(base: Base, others: list[Base], chance: random.Random) -> Tree:
    """Do one to three things to a journal, each to a file chosen at random."""
    tree = dict(base.now)
    for _ in range(chance.choice([1, 1, 2, 3])):
        name = chosen(tree, chance)
        what = chance.random()
        if what < 0.70:
            tree[name] = chance.choice(DAMAGES)(tree[name], chance)
        elif what < 0.78:
            del tree[name]
        elif what < 0.86:
            put_back(tree, base.before, chance)
        elif what < 0.94:
            splice(tree, name, chance.choice(others).now, chance)
        else:
            rename(tree, name, chance)
    return tree


def chosen(tree: Tree, chance: random.Random) -> str:
    """A file: a segment half of the time, else any; of CURRENT alone there would be little to say."""
    segments = sorted(name for name in tree if "/seg-" in name)
    others = sorted(name for name in tree if "/seg-" not in name and (name != "CURRENT" or len(tree) < 3))
    rare = ["CURRENT"] if "CURRENT" in tree and chance.random() < 0.05 else []
    return chance.choice(rare or (segments if segments and chance.random() < 0.5 else others) or sorted(tree))


def put_back(tree: Tree, before: Tree, chance: random.Random) -> None:
    """Put some of the files, or all but the witness, back to what they were."""
    whole = chance.random() < 0.5
    for name, data in before.items():
        if not name.startswith("witness/") if whole else chance.random() < 0.4:
            tree[name] = data


def splice(tree: Tree, name: str, other: Tree, chance: random.Random) -> None:
    """Put a piece of another journal's file, or all of it, into a file."""
    source = other[chance.choice(sorted(other))] if chance.random() < 0.3 else other.get(name, b"")
    start, end = two_places(source, chance)
    at, until = two_places(tree[name], chance)
    tree[name] = source if chance.random() < 0.4 else tree[name][:at] + source[start:end] + tree[name][until:]


def rename(tree: Tree, name: str, chance: random.Random) -> None:
    """Let a segment begin elsewhere, or exchange two files."""
    if "/seg-" in name and chance.random() < 0.6:
        tree[f"{name.partition('/')[0]}/seg-{chance.randrange(14):012d}.jsonl"] = tree.pop(name)
    else:
        other = chance.choice(sorted(tree))
        tree[name], tree[other] = tree[other], tree[name]


# --- the two verifiers over damaged journals ------------------------------------------------------


@pytest.mark.timeout(1800)
def test_both_judge_randomly_damaged_journals_alike(bases: list[Base], tmp_path: Path) -> None:
    """The same verdict, path, offset and seq, whatever was done to the files."""
    verdicts: Counter[str] = Counter()
    for seed in range(DAMAGED_V2):
        chance = random.Random(seed)
        places = lay_out(damage(chance.choice(bases), bases, chance), tmp_path)
        found = by_script(*places)
        assert found == by_package(*places), f"seed {seed}"
        verdicts[found[0]] += 1
    print(f"{verdicts.total():,} damaged journals judged alike:", dict(verdicts))
    assert {
        "intact",
        "torn",
        "corrupt",
        "acknowledged_loss",
        "head_mismatch",
        "rolled_back",
    } <= verdicts.keys()
    assert verdicts["corrupt"] < DAMAGED_V2 * 0.8


def test_a_sound_journal_is_sound_to_both(bases: list[Base], tmp_path: Path) -> None:
    for base in bases:
        places = lay_out(base.now, tmp_path)
        assert by_script(*places)[0] == by_package(*places)[0] == "intact"


def damaged_streams() -> Iterator[tuple[int, bytes]]:
    streams = [(VECTORS / case["file"]).read_bytes() for case in V1["streams"]]
    for seed in range(DAMAGED_V1):
        chance = random.Random(seed)
        yield seed, chance.choice(DAMAGES)(chance.choice(streams), chance)


@pytest.mark.timeout(600)
def test_both_judge_randomly_damaged_v1_streams_alike(tmp_path: Path) -> None:
    path, key = tmp_path / "stream.jsonl", bytes.fromhex(V1["key"])
    journal = V1Journal(path, agent_id=V1["agent_id"], key=key, files=Files(), clock=FakeClock())
    verdicts: Counter[str] = Counter()
    for seed, data in damaged_streams():
        path.write_bytes(data)
        found, report = second.verify(path, agent_id=V1["agent_id"], key=key), journal.verify_chain()
        offset = None if report.intact else report.offset
        expected = (str(report.verdict).replace(" ", "_"), offset, report.records)
        assert (found.name, found.offset, found.seq) == expected, f"seed {seed}"
        verdicts[found.name] += 1
    print(f"{verdicts.total():,} damaged v1 streams judged alike:", dict(verdicts))
    assert {"intact", "torn", "malformed", "wrong_signature", "broken_link"} <= verdicts.keys()
