"""The vectors of a model, few or many: what is nearest is found, through every filter, however it is held."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hippo_async.index import Index, Purged
from hippo_async.recall import nearest
from hippo_async.recall.nearest import Nearest
from hippo_async.records import Filters, Kind, Location, Novelty, Record

pytest.importorskip("faiss")

DIM = 16
COUNT = 600
MODEL = "model"
EVERYTHING = Filters(scope=None)


def record(seq: int) -> Record:
    return Record(
        seq=seq,
        record_id=f"{seq:032x}",
        agent_id="agent",
        timestamp="2026-01-01T00:00:00.000000Z",
        kind=Kind.ERROR if seq % 100 == 0 else Kind.STATE,
        novelty=Novelty.NOVEL,
        content="text",
        metadata={"scope": ["anna"]} if seq % 3 == 0 else {"session": f"s{seq // 40}"},
        prev_id=None,
    )


def vectors(count: int, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


ROWS = vectors(COUNT)


@pytest.fixture
def index(new_index: Callable[[], Index]) -> Index:
    opened = new_index()
    opened.add([(record(seq), Location(0, 0, 1)) for seq in range(COUNT + 50)])
    opened.put_vectors(MODEL, list(enumerate(ROWS)))
    return opened


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a few hundred vectors taken for a great many."""
    monkeypatch.setattr(nearest, "HELD", 100)
    monkeypatch.setattr(nearest, "PAGE", 64)


def over(index: Index) -> Nearest:
    return Nearest(index, model_id=MODEL, dim=DIM)


def prepared(index: Index) -> Nearest:
    made = over(index)
    while made.prepare():
        pass
    return made


def brute(index: Index, query: np.ndarray, filters: Filters, limit: int) -> list[int]:
    allowed = [seq for seq in index.matching(filters).tolist() if seq < COUNT]
    return sorted(allowed, key=lambda seq: (-float(ROWS[seq] @ query), -seq))[:limit]


def seqs(found: object) -> list[int]:
    return [seq for seq, _ in found]  # type: ignore[attr-defined]


ASKED = [
    EVERYTHING,
    Filters(),
    Filters(scope=("anna",)),
    Filters(scope=("nobody",)),
    Filters(session="s3"),
    Filters(kinds=(Kind.ERROR,), scope=None),
]
ways = pytest.mark.parametrize("way", ["held", "read through", "approximate", "from a file"])


@pytest.fixture
def made(way: str, index: Index, request: pytest.FixtureRequest) -> Nearest:
    if way == "held":
        return over(index)
    request.getfixturevalue("many")
    if way == "read through":
        return over(index)
    first = prepared(index)
    return first if way == "approximate" else over(index)


@ways
@pytest.mark.parametrize("filters", ASKED, ids=str)
def test_the_nearest_are_found_through_every_filter(
    made: Nearest, index: Index, filters: Filters, way: str
) -> None:
    """All of them where few are allowed; and always as many as there are, none that is not allowed."""
    allowed = set(index.matching(filters).tolist())
    for query in vectors(20, seed=1):
        found = made.search(query, filters=filters, limit=30)
        expected = brute(index, query, filters, 30)
        assert len(found) == len(expected)
        assert set(seqs(found)) <= allowed
        assert len(set(seqs(found)) & set(expected)) >= 0.9 * len(expected)
        if len(expected) < 30:
            assert seqs(found) == expected
        for seq, cosine in found:
            assert cosine == pytest.approx(float(ROWS[seq] @ query), abs=1e-5)


@ways
def test_what_is_added_is_found_at_once(made: Nearest, index: Index, way: str) -> None:
    made.search(ROWS[0], filters=EVERYTHING, limit=1)
    fresh = vectors(50, seed=2)
    added = list(range(COUNT, COUNT + 50))
    index.put_vectors(MODEL, list(zip(added, fresh, strict=True)))
    made.add(added, fresh)
    for seq, row in zip(added, fresh, strict=True):
        assert seqs(made.search(row, filters=EVERYTHING, limit=1)) == [seq]


def kept(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("gen-*/*.faiss*"))


@pytest.mark.usefixtures("many")
def test_what_was_added_since_the_file_is_found_after_the_next_opening(
    index: Index, new_index: Callable[[], Index], tmp_path: Path
) -> None:
    prepared(index)
    [path] = kept(tmp_path)
    before = path.stat().st_size
    fresh = vectors(50, seed=2)
    index.put_vectors(MODEL, [(COUNT + at, row) for at, row in enumerate(fresh)])
    again = prepared(new_index())
    assert seqs(again.search(fresh[7], filters=EVERYTHING, limit=1)) == [COUNT + 7]
    assert path.stat().st_size > before


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("damage", [b"", b"IwSq", b"nonsense" * 99])
def test_a_damaged_file_is_made_anew(index: Index, tmp_path: Path, damage: bytes) -> None:
    prepared(index)
    [path] = kept(tmp_path)
    path.write_bytes(damage)
    again = over(index)
    assert seqs(again.search(ROWS[3], filters=EVERYTHING, limit=1)) == [3]
    while again.prepare():
        pass
    assert path.stat().st_size > len(damage) + 1000
    assert seqs(again.search(ROWS[3], filters=EVERYTHING, limit=1)) == [3]


@pytest.mark.usefixtures("many")
def test_the_file_of_another_model_is_removed(index: Index, tmp_path: Path) -> None:
    prepared(index)
    [path] = kept(tmp_path)
    index.put_vectors("other", list(enumerate(ROWS)))
    other = Nearest(index, model_id="other", dim=DIM)
    while other.prepare():
        pass
    assert path not in kept(tmp_path)
    assert len(kept(tmp_path)) == 1


@pytest.mark.usefixtures("many")
def test_vectors_that_come_while_it_is_built_are_not_forgotten(index: Index) -> None:
    made = over(index)
    for _ in range(3):
        made.prepare()
    late = vectors(1, seed=3)
    index.put_vectors(MODEL, [(COUNT, late[0])])
    made.add([COUNT], late)
    assert seqs(made.search(late[0], filters=EVERYTHING, limit=1)) == [COUNT]
    while made.prepare():
        pass
    assert seqs(made.search(late[0], filters=EVERYTHING, limit=1)) == [COUNT]


@pytest.mark.usefixtures("many")
def test_without_faiss_all_are_held(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest.approximate, "available", lambda: False)
    made = over(index)
    assert not made.prepare()
    query = vectors(1, seed=4)[0]
    assert seqs(made.search(query, filters=EVERYTHING, limit=40)) == brute(index, query, EVERYTHING, 40)


@pytest.mark.usefixtures("many")
def test_a_disk_that_is_full_costs_the_file_only(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(index, "keep_beside", full)
    made = prepared(index)
    assert seqs(made.search(ROWS[3], filters=EVERYTHING, limit=1)) == [3]


def take_out(index: Index, gone: list[int]) -> None:
    turns = [record(seq) for seq in index.neighbours(gone)]
    purged = [Purged(record(seq), 1) for seq in gone]
    index.erase(purged, turns, embedded_with=[], journal_generation=1)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("way", ["held", "through all", "approximate"])
def test_what_is_taken_out_is_found_no_more_and_its_vector_is_in_no_file(
    index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    if way == "held":
        monkeypatch.setattr(nearest, "HELD", 10_000)
    made = prepared(index) if way == "approximate" else over(index)
    query = ROWS[40]
    assert seqs(made.search(query, filters=EVERYTHING, limit=1)) == [40]
    take_out(index, [40, 41])
    made.remove([40, 41])
    left = brute(index, query, EVERYTHING, 1)
    assert seqs(made.search(query, filters=EVERYTHING, limit=1)) == left
    assert not {40, 41} & set(seqs(made.search(query, filters=EVERYTHING, limit=COUNT)))
    files = {path.suffix: path.read_bytes() for path in tmp_path.rglob("index.*") if path.is_file()}
    assert ROWS[40].astype("<f4").tobytes() not in b"".join(files.values())
    assert len(list(tmp_path.rglob("*.faiss"))) == (way == "approximate")

    again = over(index)
    assert seqs(again.search(query, filters=EVERYTHING, limit=1)) == left
    assert again.prepare() == (way == "through all"), "the file holds what is left"

    index.put_vectors(MODEL, [(COUNT, ROWS[40])])
    made.add([COUNT], ROWS[40:41])
    assert seqs(made.search(query, filters=EVERYTHING, limit=1)) == [COUNT]


@pytest.mark.usefixtures("many")
def test_what_is_taken_out_while_it_is_built_is_not_in_it(index: Index) -> None:
    made = over(index)
    for _ in range(4):
        assert made.prepare()
    take_out(index, [3, 500])
    made.remove([3, 500])
    while made.prepare():
        pass
    for seq in (3, 500):
        found = seqs(made.search(ROWS[seq], filters=EVERYTHING, limit=COUNT))
        assert len(found) == COUNT - 2
        assert seq not in found
