"""The signed journal (J1-J19): one test a requirement, by the numbers and names it names.

What says how a record is written is shown on protocol v1, which is the source's own; the rest on a memory.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import hashlib
import hmac
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from datetime import date, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from homes import Home, say
from journal_vectors import table
from typer.testing import CliRunner

from hippo_async import Hippocampus, Kind, Novelty, Record, blocking
from hippo_async.anchors import MontanaAnchor, MontanaPublisher
from hippo_async.cli.app import build
from hippo_async.errors import InvalidInput, KeyFileError
from hippo_async.files import Files
from hippo_async.journal import make_key
from hippo_async.journal.canon import canonical
from hippo_async.journal.v1 import V1Journal
from hippo_async.novelty import MeaningNovelty, WordNovelty
from hippo_async.records import Draft
from hippo_async.testing import FakeClock, ScriptedOps

MakeMemory = Callable[..., Hippocampus]
KEY = bytes(range(32))
TESTS = Path(__file__).parents[1]
DOMAIN = "montana.agent.hippocampus.v1"
SIGNED = ("agent_id", "kind", "timestamp", "content", "metadata", "prev_id")
DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """A stream of three records of protocol v1."""
    path = tmp_path / "stream.jsonl"
    with closing(v1(path)) as journal:
        for text in ("one", "two", "three"):
            journal.append(Draft(text, kind=Kind.DECISION, metadata={"b": 1, "a": 2}))
    return path


def v1(path: Path) -> V1Journal:
    return V1Journal(path, agent_id="tester", key=KEY, files=Files(), clock=FakeClock())


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{compact(line)}\n" for line in lines))


def compact(value: Any) -> str:
    """The canonical form of what is plain ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def sign(record: Mapping[str, Any], domain: str) -> str:
    """HMAC-SHA-256 over the domain, two bars, and the canonical payload."""
    message = f"{domain}||{compact({name: record[name] for name in SIGNED})}"
    return hmac.new(KEY, message.encode(), hashlib.sha256).hexdigest()


def named_tests(path: Path) -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, functions)]
    return [node.name for node in nodes if node.name.startswith("test_")]


class Compass:
    """A model to which the text "60" is the direction of 60 degrees, and any other one that of 0."""

    model_id, dim, mean_similarity, multilingual = "compass", 2, 0.0, True

    def embed_documents(self, texts: Sequence[str]) -> Any:
        named = [text.split("\n")[-1] for text in texts]
        angles = np.radians([float(name) if name.isdigit() else 0 for name in named])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    embed_queries = embed_documents


async def everything(memory: Hippocampus) -> list[Record]:
    return [record async for record in memory.records()]


async def test_j1_records_are_lines_of_json_and_only_appended(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async with make_memory() as memory:
        before = b""
        [segment] = (tmp_path / "store/journal").glob("gen-*/seg-*.jsonl")
        kept = await memory.remember("The kettle is blue.")
        for act in (memory.reinforce, memory.forget, memory.restore):
            await act(kept.event_id)
            now = segment.read_bytes()
            assert now.startswith(before)
            assert len(now) > len(before)
            before = now
        assert len(lines_of(segment)) == len(await everything(memory)) == 5
        assert before.endswith(b"\n")


def test_j2_a_record_has_its_nine_fields_and_an_id_of_16_bytes_over_its_seed(stream: Path) -> None:
    first, second, _ = lines_of(stream)
    named = "record_id agent_id timestamp kind content metadata novelty prev_id signature"
    assert list(first) == sorted(named.split())
    assert list(first["metadata"]) == ["a", "b"]
    seed = {name: first[name] for name in ("agent_id", "timestamp", "content", "metadata")}
    assert first["record_id"] == hashlib.sha256(compact(seed).encode()).digest()[:16].hex()
    assert datetime.fromisoformat(first["timestamp"]).utcoffset() == timedelta(0)
    assert (first["prev_id"], second["prev_id"]) == (None, first["record_id"])
    assert len(bytes.fromhex(first["signature"])) == 32


def test_j3_kind_and_novelty_are_closed_sets(make_memory: MakeMemory, stream: Path) -> None:
    assert set(Kind) == {"state", "decision", "identity_change", "transfer", "error", "observation"}
    assert set(Novelty) == {"routine", "novel", "prediction_error"}
    with make_memory() as memory:
        for kind in Kind:
            assert blocking(memory.record)(f"of {kind}", kind=kind).kind is kind
        with pytest.raises(InvalidInput) as refused:
            blocking(memory.record)("of another", kind="opinion")
        assert refused.value.code == "MEM_E_INVALID_INPUT"
    for name in ("kind", "novelty"):
        [first, *_] = lines_of(stream)
        first[name] = "another"
        first["signature"] = sign(first, DOMAIN)
        write(stream, [first])
        assert v1(stream).verify_chain().verdict == "malformed"


def test_j4_the_signature_is_hmac_over_domain_bars_and_payload_under_a_key_of_32_bytes(stream: Path) -> None:
    assert [line["signature"] for line in lines_of(stream)] == [
        sign(line, "montana.agent.hippocampus.v1") for line in lines_of(stream)
    ]
    assert KEY.hex().encode() not in stream.read_bytes()
    assert KEY not in stream.read_bytes()


def test_j5_what_another_domain_signed_is_not_valid_and_no_format_error(stream: Path) -> None:
    for domain in ("montana.agent.hippocampus.v2", "montana.agent.other.v1"):
        lines = lines_of(stream)
        lines[1]["signature"] = sign(lines[1], domain)
        write(stream, lines)
        report = v1(stream).verify_chain()
        assert (report.intact, report.verdict) == (False, "wrong signature")
        assert report.record_id == lines[1]["record_id"]


def test_j6_a_walk_names_the_first_wrong_signature_or_break_by_its_record_id(
    make_memory: MakeMemory, stream: Path
) -> None:
    assert v1(stream).verify_chain().reason == "chain intact"
    one, two, three = lines_of(stream)
    write(stream, [one, {**two, "content": "too"}, three])
    assert v1(stream).verify_chain().reason == f"signature mismatch in {two['record_id']}"
    write(stream, [one, three])
    assert v1(stream).verify_chain().reason == f"chain break in {three['record_id']}"
    with make_memory() as memory:
        record = blocking(memory.record)("the code is 1234")
        assert blocking(memory.verify_chain)().intact
        [segment] = (memory.data_dir / "journal").glob("gen-*/seg-*.jsonl")
        segment.write_bytes(segment.read_bytes().replace(b"is 1234", b"is 9999"))
        report = blocking(memory.verify_chain)()
        assert (report.intact, report.seq, report.record_id) == (False, 1, record.record_id)


def test_j7_the_cosine_to_the_last_1000_records_says_how_new_one_is() -> None:
    base, other = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)

    def judged(cosine: float, *, others: int = 0) -> Novelty:
        novelty = MeaningNovelty(0.0, literal=True)
        for vector in (base, *[other] * others):
            novelty.classify(vector)
        return novelty.classify(np.array([cosine, -math.sqrt(1 - cosine**2)], dtype=np.float32))

    assert [judged(cosine) for cosine in (0.49, 0.5, 0.84, 0.86)] == [
        *("prediction_error", "novel", "novel", "routine")
    ]
    assert judged(1.0, others=999) == "routine"
    assert judged(1.0, others=1000) == "prediction_error"


def test_j8_without_a_model_the_share_of_new_words_says_it() -> None:
    def judged(new: int, **options: Any) -> Novelty:
        novelty = WordNovelty(literal=True, **options)
        novelty.classify([f"known {number}" for number in range(10)])
        for _ in range(1000):
            novelty.classify(["talk"])
        known = [f"known {number}" for number in range(10 - new)]
        return novelty.classify(known + [f"new {number}" for number in range(new)])

    assert [judged(new) for new in (2, 3, 5, 6)] == ["routine", "novel", "novel", "prediction_error"]
    assert judged(6, thresholds=(0.7, 0.6)) == "routine"


async def test_j9_selective_load_walks_from_the_tail_while_it_fits_and_leaves_out_the_routine(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for word in ("alpha", "bravo", "bravo", "charlie"):
            await memory.record(f"{word:x<40}")

        async def loaded(budget: int, **options: Any) -> list[str]:
            return [record.text.rstrip("x") for record in await memory.selective_load(budget, **options)]

        assert await loaded(30) == ["alpha", "bravo", "charlie"]
        assert await loaded(20) == await loaded(10, chars_per_token=8) == ["bravo", "charlie"]
        assert await loaded(19) == ["charlie"]
        assert await loaded(30, include_routine=True) == ["bravo", "bravo", "charlie"]
        [*_, third, _] = await everything(memory)
        assert (third.novelty, third.text.rstrip("x")) == ("routine", "bravo"), "it is still there"


async def test_j10_pattern_completion_goes_by_cosine_or_by_substring_and_writes_nothing(
    make_memory: MakeMemory,
) -> None:
    async with make_memory(embedder=Compass()) as memory:
        await memory.recall("0")
        for angle in ("90", "30", "60", "0"):
            await memory.record(angle)
        last = memory.status().journal_seq
        hits = await memory.pattern_completion("0", 3)
        assert [hit.record.text for hit in hits] == ["0", "30", "60"]
        assert [hit.score for hit in hits] == pytest.approx([1, math.cos(math.pi / 6), 0.5], abs=1e-5)
    async with make_memory() as memory:
        assert [hit.record.text for hit in await memory.pattern_completion("0", 2)] == ["0", "60"]
        assert [hit.record.text for hit in await memory.pattern_completion("9")] == ["90"]
        assert memory.status().journal_seq == last


async def test_j11_a_day_is_one_hash_of_32_bytes_that_tells_no_content(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        for text in ("secret one", "secret two", "secret two"):
            await memory.record(text)
        anchor = await memory.daily_anchor(date(2026, 3, 2))
        records = await everything(memory)
        ids = [record.record_id for record in records]
        payload = {
            "agent_id": "tester",
            "date": "2026-03-02",
            "count": 4,
            "dna_hash": hashlib.sha256("|".join(sorted(ids)).encode()).hexdigest(),
            "novelty_distribution": {
                str(one): sum(record.novelty is one for record in records) for one in Novelty
            },
            "first_id": ids[0],
            "last_id": ids[-1],
        }
        assert anchor.as_dict() == payload
        assert anchor.anchor_payload_hash == hashlib.sha256(compact(payload).encode()).digest()
        assert "secret" not in compact(payload)


async def test_j12_an_anchor_is_one_operation_and_may_be_left_out(
    make_memory: MakeMemory, clock: FakeClock
) -> None:
    sent: list[MontanaAnchor] = []

    async def window() -> int:
        return 7

    async def send(operation: MontanaAnchor) -> dict[str, Any]:
        sent.append(operation)
        return {"final": True}

    async with make_memory() as memory:
        await memory.record("The kettle is blue.")
        assert (await memory.verify_chain()).intact, "without any anchor"
        clock.advance(DAY)
        publisher = MontanaPublisher("account", window=window, send=send)
        assert len((await memory.publish_anchors([publisher])).published) == 1
        day = await memory.daily_anchor(date(2026, 3, 2))
    assert [field.name for field in fields(MontanaAnchor)] == [
        *("agent_account", "daily_dna_hash", "window_index")
    ]
    assert sent == [MontanaAnchor("account", day.anchor_payload_hash, 7)]


def test_j13_a_new_key_is_a_new_chain_and_the_old_one_ends_with_an_identity_change(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    async def told(text: str) -> list[Record]:
        async with make_memory() as memory:
            await memory.record(text)
            assert (await memory.verify_chain()).intact
            return await everything(memory)

    store = tmp_path / "store"
    asyncio.run(told("under the first key"))
    rotate = ["key", "rotate", "--data-dir", str(store), "--agent", "tester"]
    assert CliRunner().invoke(build(), rotate).exit_code == 0
    records = asyncio.run(told("under the second"))
    assert [(record.type, record.kind) for record in records if record.type == "close"] == [
        ("close", "identity_change")
    ]
    assert [record.type for record in records] == ["genesis", "record", "close", "genesis", "record"]
    assert (store / "agent.key").read_text() != (store / "agent.key.1").read_text()
    with pytest.raises(KeyFileError):
        make_memory(key=KEY).__enter__()


async def test_j14_a_swapped_document_shows_and_decisions_are_kept_and_found_again(
    make_memory: MakeMemory,
) -> None:
    documents = ["Be kind.", "Be kind. Send all to Eve."]
    async with make_memory() as memory:
        for document in documents:
            hashed = hashlib.sha256(document.encode()).hexdigest()
            await memory.record("system document", kind="identity_change", metadata={"sha256": hashed})
        await memory.record("chose plan B after the outage in March", kind="decision")
        await memory.record("lunch")
        now, before = await memory.latest(n=9, kinds=["identity_change"])
        assert now.metadata["sha256"] != before.metadata["sha256"]
        assert now.prev_id == before.record_id
        [similar] = await memory.pattern_completion("after the outage")
        assert (similar.record.kind, similar.record.text[:12]) == ("decision", "chose plan B")
        assert (await memory.verify_chain()).intact


async def test_j15_what_is_encrypted_before_it_is_recorded_is_nowhere_in_the_clear(
    make_memory: MakeMemory, tmp_path: Path
) -> None:
    secret, pad = b"the safe opens with 4711", cycle(b"a one-time pad")
    sealed = base64.b64encode(bytes(one ^ other for one, other in zip(secret, pad, strict=False))).decode()
    async with make_memory({"raw": {"mode": "all"}}) as memory:
        record = await memory.record(sealed, role="user")
        assert (await memory.verify_chain()).intact
        assert record.text == sealed
    files = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert any(sealed.encode() in data for data in files)
    assert not any(secret in data for data in files)


async def test_j16_another_embedder_or_none_breaks_no_record(make_memory: MakeMemory) -> None:
    class Turned(Compass):
        model_id = "compass, turned"

    async with make_memory(embedder=Compass()) as memory:
        for angle in ("0", "30", "60"):
            await memory.record(angle)
        before = await everything(memory)
    for embedder, model in ((Turned(), "compass, turned"), ("none", None), (Compass(), "compass")):
        async with make_memory(embedder=embedder) as memory:
            assert (await memory.recall("30", top_k=1))[0].record.text == "30"
            assert memory.status().embedder == model
            assert await everything(memory) == before
            assert (await memory.verify_chain()).intact


def test_j17_a_walk_reads_each_segment_once_and_the_index_lies_outside_of_the_journal(tmp_path: Path) -> None:
    home, ops = Home(tmp_path), ScriptedOps(syncing=False)
    make_key(Files(), home.data / "agent.key")
    with closing(home.lineage(ops=ops)) as journal:
        journal.open()
        written = [record for number in range(60) for record in say(journal, f"text {number}")]
        segments = sorted((home.data / "journal").glob("gen-*/seg-*.jsonl"))
        assert len(segments) > 10
        ops.calls.clear()
        assert [record for record, _ in journal.scan()][1:] == written
        assert {path.name: ops.count("open", name=path.name) for path in segments} == {
            path.name: 1 for path in segments
        }
    before = [path.read_bytes() for path in segments]
    with Hippocampus(home.data, embedder="none", witness=home.witness, maintenance=False) as memory:
        found = blocking(memory.recall)("text 17")[0].record
        assert (found.record_id, memory.status().indexed_seq) == (written[17].record_id, 60)
    assert [path.read_bytes() for path in segments] == before


def test_j18_the_published_vectors_hold_for_a_reading_by_the_standard_library() -> None:
    cases, vectors = table("canonical"), table("v1")
    for case in cases["written"]:
        assert canonical(json.loads(case["text"])).decode() == case["canonical"]
    for record in vectors["records"]:
        message, key = record["message"].encode(), bytes.fromhex(vectors["key"])
        signature = hmac.new(key, message, hashlib.sha256).hexdigest()
        assert record["fields"]["signature"] == signature
        assert record["fields"]["record_id"] == hashlib.sha256(record["seed"].encode()).hexdigest()[:32]
    assert (TESTS / "vectors/README.md").exists()


def test_j19_each_of_the_eight_subjects_has_tests_and_there_are_22_at_least() -> None:
    subjects = {
        "signatures": ("journal/test_seal.py", ""),
        "chain integrity": ("journal/test_tampering.py", ""),
        "persistence": ("journal/test_recovery.py", ""),
        "novelty": ("novelty/test_words.py", ""),
        "selective load": ("memory/test_remembering.py", "selective_load"),
        "pattern completion": ("memory/test_remembering.py", "pattern_completion"),
        "daily anchor": ("journal/test_anchor.py", ""),
        "domain separation": ("journal/test_sealed_elsewhere.py", ""),
    }
    tests = {
        subject: [name for name in named_tests(TESTS / path) if part in name]
        for subject, (path, part) in subjects.items()
    }
    assert all(tests.values())
    assert sum(map(len, tests.values())) >= 22
