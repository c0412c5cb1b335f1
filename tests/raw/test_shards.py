"""Shards grow by whole lines, one write a day and batch (L2-L4)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hippo_async.files import Files, SystemOps
from hippo_async.raw.shards import RawShards, days
from hippo_async.raw.turn import RawTurn, decode

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def turns(count: int, *, at: datetime = NOON) -> list[RawTurn]:
    return [RawTurn(f"{at:%d}-{n}", at, "user", f"turn {n}") for n in range(count)]


class WatchedOps(SystemOps):
    """Counts writes and syncs; the next write stops after ``tear`` bytes, as on a full disk."""

    def __init__(self) -> None:
        self.writes = 0
        self.synced_files = 0
        self.tear: int | None = None

    def write(self, fd: int, data: memoryview) -> int:
        self.writes += 1
        if self.tear is not None:
            cut, self.tear = self.tear, None
            super().write(fd, data[:cut])
            raise OSError(28, "no space left")
        return super().write(fd, data)

    def sync_data(self, fd: int) -> None:
        self.synced_files += 1


def test_turns_go_to_the_shard_of_their_day_in_order(tmp_path: Path):
    first, second = turns(3), turns(2, at=NOON + timedelta(days=1))
    RawShards(tmp_path, files=Files()).append([first[0], second[0], first[1], second[1], first[2]])
    lines = (tmp_path / "raw" / "2026-03-01.jsonl").read_bytes().splitlines()
    assert [decode(line) for line in lines] == first
    lines = (tmp_path / "raw" / "2026-03-02.jsonl").read_bytes().splitlines()
    assert [decode(line) for line in lines] == second


def test_a_batch_is_one_write_per_shard_and_not_synced(tmp_path: Path):
    ops = WatchedOps()
    RawShards(tmp_path, files=Files(ops)).append(turns(10) + turns(10, at=NOON + timedelta(days=1)))
    assert (ops.writes, ops.synced_files) == (2, 0)


def test_nothing_is_on_disk_before_the_first_turn(tmp_path: Path):
    shards = RawShards(tmp_path, files=Files())
    shards.append([])
    assert shards.sizes() == {}
    assert list(tmp_path.iterdir()) == []


def test_appending_never_changes_what_is_there(tmp_path: Path):
    path = tmp_path / "raw" / "2026-03-01.jsonl"
    RawShards(tmp_path, files=Files()).append(turns(2))
    before = path.read_bytes()
    RawShards(tmp_path, files=Files()).append(turns(2))
    assert path.read_bytes() == before * 2


def test_a_line_torn_by_a_crash_does_not_take_the_next_one_with_it(tmp_path: Path):
    path = tmp_path / "raw" / "2026-03-01.jsonl"
    RawShards(tmp_path, files=Files()).append(turns(2))
    path.write_bytes(path.read_bytes()[:-5])
    RawShards(tmp_path, files=Files()).append(turns(1))
    assert decode(path.read_bytes().splitlines()[2]) == turns(1)[0]


def test_a_line_torn_by_a_failed_write_does_not_take_the_next_one_with_it(tmp_path: Path):
    ops = WatchedOps()
    shards = RawShards(tmp_path, files=Files(ops))
    shards.append(turns(1))
    ops.tear = 7
    with pytest.raises(OSError, match="no space left"):
        shards.append(turns(1))
    shards.append(turns(1))
    lines = (tmp_path / "raw" / "2026-03-01.jsonl").read_bytes().splitlines()
    assert [len(line) > 7 for line in lines] == [True, False, True]
    assert decode(lines[2]) == turns(1)[0]


def test_sizes_are_the_bytes_of_each_day(tmp_path: Path):
    shards = RawShards(tmp_path, files=Files())
    shards.append(turns(3) + turns(1, at=NOON + timedelta(days=1)))
    (tmp_path / "raw" / "notes.txt").write_text("not a shard")
    sizes = {path.stem: path.stat().st_size for path in (tmp_path / "raw").glob("*.jsonl")}
    assert shards.sizes() == sizes
    assert len(sizes) == 2


def test_other_files_are_no_shards():
    assert days(["2026-03-02.jsonl", "2026-03-01.jsonl", "2026-03-01.jsonl.bak", "x.jsonl"]) == [
        ("2026-03-01", "2026-03-01.jsonl"),
        ("2026-03-02", "2026-03-02.jsonl"),
    ]
