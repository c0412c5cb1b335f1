"""Protocol v1 (J1-J6): appended, verified, continued and imported to the letter."""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_async.errors import (
    InvalidInput,
    JournalCorrupt,
    JournalLocked,
    JournalPoisoned,
    KeyFileError,
    NotFound,
    RecordRejected,
    WriteFailed,
)
from hippo_async.files import Files
from hippo_async.journal.journal import Journal
from hippo_async.journal.keys import Key
from hippo_async.journal.seal import DOMAIN_V1, DOMAIN_V2, Sealer
from hippo_async.journal.v1 import V1Journal, import_v1
from hippo_async.journal.v1_codec import (
    DIALECTS,
    V1LineError,
    V1Record,
    V1Verdict,
    encode_v1,
    open_v1,
    record_id_of,
    sign,
)
from hippo_async.records import Draft, Kind, Novelty
from hippo_async.testing import FakeClock, ScriptedOps

KEY = bytes(range(32))
RFC_8785 = DIALECTS[0]


def make(
    path: Path, *, key: Key | bytes = KEY, agent_id: str = "agent", files: Files | None = None
) -> V1Journal:
    return V1Journal(path, agent_id=agent_id, key=key, files=files or Files(), clock=FakeClock())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stream.jsonl"


@pytest.fixture
def journal(path: Path) -> Iterator[V1Journal]:
    made = make(path)
    yield made
    made.close()


def fill(journal: V1Journal, *contents: str) -> list[V1Record]:
    return [journal.append(Draft(content)) for content in contents]


# --- appending (J1, J2, J4) -----------------------------------------------------------------------


def test_a_record_has_the_nine_fields_sorted_on_one_line(journal: V1Journal, path: Path) -> None:
    journal.append(Draft("two\nlines\u2028", kind=Kind.DECISION, metadata={"b": 1, "a": "é"}))
    [line] = path.read_bytes().splitlines()
    fields = json.loads(line)
    assert list(fields) == sorted(
        [
            "record_id",
            "agent_id",
            "timestamp",
            "kind",
            "content",
            "metadata",
            "novelty",
            "prev_id",
            "signature",
        ]
    )
    assert list(fields["metadata"]) == ["a", "b"]
    assert fields["timestamp"] == "2026-01-01T12:00:00.000000Z"


def test_the_signature_is_hmac_over_domain_separator_and_payload(journal: V1Journal) -> None:
    record = journal.append(Draft("hi", kind=Kind.STATE, metadata={"a": 1}))
    message = (
        "montana.agent.hippocampus.v1||"
        '{"agent_id":"agent","content":"hi","kind":"state","metadata":{"a":1},"prev_id":null,'
        '"timestamp":"2026-01-01T12:00:00.000000Z"}'
    )
    assert record.signature == hmac.new(KEY, message.encode(), hashlib.sha256).hexdigest()


def test_the_id_is_the_hash_of_agent_time_content_and_metadata(journal: V1Journal) -> None:
    record = journal.append(Draft("hi", metadata={"a": 1}))
    seed = '{"agent_id":"agent","content":"hi","metadata":{"a":1},"timestamp":"2026-01-01T12:00:00.000000Z"}'
    assert record.record_id == hashlib.sha256(seed.encode()).hexdigest()[:32]


def test_each_record_links_to_the_one_before(journal: V1Journal) -> None:
    first, second, third = fill(journal, "a", "b", "c")
    assert [first.prev_id, second.prev_id, third.prev_id] == [None, first.record_id, second.record_id]
    assert list(journal.records()) == [first, second, third]


def test_what_is_there_is_never_changed_by_an_append(journal: V1Journal, path: Path) -> None:
    fill(journal, "a", "b")
    before = path.read_bytes()
    fill(journal, "c")
    assert path.read_bytes().startswith(before)


def test_a_chain_goes_on_after_it_was_closed(journal: V1Journal, path: Path) -> None:
    [first] = fill(journal, "a")
    journal.close()
    [second] = fill(make(path), "b")
    assert second.prev_id == first.record_id


def test_the_stream_is_private(journal: V1Journal, path: Path) -> None:
    fill(journal, "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_draft_keeps_its_own_time(journal: V1Journal) -> None:
    moment = datetime(2020, 2, 29, 12, 0, tzinfo=UTC)
    assert journal.append(Draft("a", timestamp=moment)).timestamp == "2020-02-29T12:00:00.000000Z"


@pytest.mark.parametrize(
    "metadata", [{"a": float("nan")}, {"a": 2**53}, {"a": (1,)}, {1: "a"}, {"a": "\ud800"}]
)
def test_what_has_no_canonical_form_is_refused_in_every_dialect(
    journal: V1Journal, path: Path, metadata: dict[Any, Any]
) -> None:
    fill(journal, "a")
    before = path.read_bytes()
    with pytest.raises(RecordRejected):
        journal.append(Draft("b", metadata=metadata))
    assert path.read_bytes() == before
    fill(journal, "c")
    assert journal.verify_chain().records == 2


@pytest.mark.parametrize("key", [b"short", bytes(32), b"\x01" * 32])
def test_a_key_that_protects_nothing_is_refused(path: Path, key: bytes) -> None:
    with pytest.raises(KeyFileError):
        make(path, key=key)


def test_the_constructor_touches_nothing(tmp_path: Path) -> None:
    make(tmp_path / "new" / "stream.jsonl")
    assert list(tmp_path.iterdir()) == []


# --- writers and disks ----------------------------------------------------------------------------


def test_a_second_writer_is_refused(journal: V1Journal, path: Path) -> None:
    fill(journal, "a")
    with pytest.raises(JournalLocked):
        make(path).append(Draft("b"))
    journal.close()
    other = make(path)
    fill(other, "b")
    other.close()


def test_a_reader_needs_no_lock(journal: V1Journal, path: Path) -> None:
    fill(journal, "a", "b")
    assert make(path).verify_chain().records == 2


@pytest.mark.parametrize("operation", ["write", "sync_data"])
def test_a_failed_write_is_not_acknowledged_and_poisons_the_journal(path: Path, operation: str) -> None:
    """The same pages are never synced a second time."""
    ops = ScriptedOps()
    ops.fail(operation, errno.EIO, name=path.name)
    journal = make(path, files=Files(ops))
    with pytest.raises(WriteFailed):
        journal.append(Draft("a"))
    synced = ops.count("sync_data")
    with pytest.raises(JournalPoisoned):
        journal.append(Draft("b"))
    assert ops.count("sync_data") == synced
    journal.close()
    assert not ops.descriptors


def test_half_a_written_line_is_a_torn_one(path: Path) -> None:
    ops = ScriptedOps()
    journal = make(path, files=Files(ops))
    fill(journal, "a")
    ops.shorten(20, name=path.name)
    ops.fail("write", errno.ENOSPC, at=2, name=path.name)
    with pytest.raises(WriteFailed):
        journal.append(Draft("b"))
    journal.close()
    assert make(path).verify_chain().verdict is V1Verdict.TORN


def test_a_record_is_synced_before_it_is_acknowledged(path: Path) -> None:
    ops = ScriptedOps()
    journal = make(path, files=Files(ops))
    fill(journal, "a", "b")
    journal.close()
    calls = [call.operation for call in ops.calls if call.path == path]
    written = [operation for operation in calls if operation in ("write", "sync_data")]
    assert written == ["write", "sync_data", "write", "sync_data"]


def test_a_stream_that_somebody_else_wrote_to_is_not_continued(journal: V1Journal, path: Path) -> None:
    fill(journal, "a")
    with path.open("ab") as file:
        file.write(b"garbage\n")
    with pytest.raises(JournalPoisoned):
        journal.append(Draft("b"))


# --- verifying (J5, J6) ---------------------------------------------------------------------------


def test_an_intact_chain_is_called_intact(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "b", "c")
    report = journal.verify_chain()
    assert (report.verdict, report.reason, report.intact) == (V1Verdict.INTACT, "chain intact", True)
    assert (report.records, report.record_id, report.offset) == (
        3,
        records[-1].record_id,
        path.stat().st_size,
    )


def test_a_wrong_signature_is_named_by_its_record(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "bee", "c")
    path.write_bytes(path.read_bytes().replace(b'"bee"', b'"bea"'))
    report = make(path).verify_chain()
    assert report.reason == f"signature mismatch in {records[1].record_id}"
    assert (report.records, report.offset) == (1, path.read_bytes().index(b"\n") + 1)


def test_a_broken_link_is_named_by_its_record(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "b", "c")
    first, _, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + third)
    assert make(path).verify_chain().reason == f"chain break in {records[2].record_id}"


def test_the_signature_is_checked_before_the_link(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "b")
    _, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(second.replace(b'"content":"b"', b'"content":"B"'))
    report = make(path).verify_chain()
    assert (report.verdict, report.record_id) == (V1Verdict.WRONG_SIGNATURE, records[1].record_id)


def test_a_record_of_a_foreign_domain_is_not_valid_and_no_format_error(path: Path) -> None:
    """J5, also where the foreign protocol has kinds of its own."""
    record = V1Record("0" * 32, "agent", "2026-01-01T00:00:00Z", Kind.STATE, "a", {}, Novelty.NOVEL, None, "")
    foreign = Sealer(KEY, domain=DOMAIN_V2)
    fields = {**record.fields(), "signature": sign(record, foreign, RFC_8785)}
    for kind in ("state", "rumour"):
        path.write_bytes(RFC_8785.encode({**fields, "kind": kind}) + b"\n")
        assert make(path).verify_chain().verdict is V1Verdict.WRONG_SIGNATURE


def test_a_foreign_key_is_not_valid(journal: V1Journal, path: Path) -> None:
    [record] = fill(journal, "a")
    report = make(path, key=bytes(range(1, 33))).verify_chain()
    assert (report.verdict, report.record_id, report.records) == (
        V1Verdict.WRONG_SIGNATURE,
        record.record_id,
        0,
    )


def test_a_changed_id_is_counted_and_found_by_the_next_link(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(
        whole.replace(f'record_id":"{records[0].record_id}'.encode(), b'record_id":"' + b"0" * 32)
    )
    report = make(path).verify_chain()
    assert (report.reason, report.unmatched_ids) == (f"chain break in {records[1].record_id}", 1)
    path.write_bytes(
        whole.replace(f'record_id":"{records[1].record_id}'.encode(), b'record_id":"' + b"0" * 32)
    )
    assert (make(path).verify_chain().intact, make(path).verify_chain().unmatched_ids) == (True, 1)


def test_records_are_served_up_to_the_first_that_does_not_verify(journal: V1Journal, path: Path) -> None:
    records = fill(journal, "a", "b", "c")
    path.write_bytes(path.read_bytes().replace(b'"content":"c"', b'"content":"d"'))
    served = make(path).records()
    assert [next(served), next(served)] == records[:2]
    with pytest.raises(JournalCorrupt) as caught:
        next(served)
    first_two = path.read_bytes().splitlines(keepends=True)[:2]
    assert (caught.value.seq, caught.value.offset) == (2, sum(map(len, first_two)))


def test_there_is_no_verdict_on_a_file_that_is_not_there(journal: V1Journal) -> None:
    with pytest.raises(NotFound):
        journal.verify_chain()
    with pytest.raises(NotFound):
        next(journal.records())


def test_a_line_longer_than_one_read_is_one_line(journal: V1Journal) -> None:
    fill(journal, "a", "x" * (3 << 20), "b")
    assert journal.verify_chain().records == 3


# --- a torn last line -----------------------------------------------------------------------------


def test_nothing_is_appended_to_a_torn_stream_until_its_owner_has_it_cut(
    journal: V1Journal, path: Path
) -> None:
    records = fill(journal, "a", "b")
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    again = make(path)
    assert again.verify_chain().verdict is V1Verdict.TORN
    with pytest.raises(JournalCorrupt):
        again.append(Draft("c"))
    assert path.read_bytes() == whole[:-10]

    first_line = whole.index(b"\n") + 1
    copy = again.cut_torn()
    assert (path.read_bytes(), copy.read_bytes()) == (whole[:first_line], whole[first_line:-10])
    assert fill(again, "c")[0].prev_id == records[0].record_id
    again.close()


def test_only_a_torn_line_is_cut(journal: V1Journal, path: Path) -> None:
    fill(journal, "a", "b")
    journal.close()
    whole = path.read_bytes()
    for data in (whole, whole.replace(b'"a"', b'"A"'), whole + b"garbage\n"):
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            journal.cut_torn()
        assert path.read_bytes() == data


def test_a_stream_cut_at_any_byte_is_torn_or_a_shorter_chain(journal: V1Journal, path: Path) -> None:
    """J6 cannot tell a cut tail from a short journal; nothing else may pass."""
    fill(journal, "a", "b", "c")
    whole = path.read_bytes()
    ends = {0, *(index + 1 for index, byte in enumerate(whole) if byte == 10)}
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        expected = V1Verdict.INTACT if size in ends else V1Verdict.TORN
        assert make(path).verify_chain().verdict is expected


# --- dialects -------------------------------------------------------------------------------------

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text() | st.floats(-1e15, 1e15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(DIALECTS), st.text(), st.dictionaries(st.text(), json_values, max_size=3))
def test_what_a_dialect_writes_it_reads_and_verifies(
    dialect: Any, content: str, metadata: dict[str, Any]
) -> None:
    sealer = Sealer(KEY, domain=DOMAIN_V1)
    record = V1Record(
        "", "agent", "2026-01-01T00:00:00Z", Kind.STATE, content, metadata, Novelty.NOVEL, None, ""
    )
    fields = {
        **record.fields(),
        "record_id": record_id_of(record, dialect),
        "signature": sign(record, sealer, dialect),
    }
    line = dialect.encode(fields) + b"\n"
    opened = open_v1(line, sealer, dialect)
    assert record_id_of(opened, dialect) == opened.record_id
    assert encode_v1(opened, dialect) == line
    with pytest.raises(V1LineError):
        open_v1(line, Sealer(bytes(range(1, 33)), domain=DOMAIN_V1), dialect)


def test_the_dialect_is_the_one_of_the_whole_chain_not_of_its_first_record(path: Path) -> None:
    """The first record reads the same in several; a later one decides."""
    sealer = Sealer(KEY, domain=DOMAIN_V1)
    lines, tail = [], None
    for content in ("plain", "не только ASCII"):
        record = V1Record(
            "", "agent", "2026-01-01T00:00:00Z", Kind.STATE, content, {}, Novelty.NOVEL, tail, ""
        )
        python_utf8 = DIALECTS[3]
        tail = record_id_of(record, python_utf8)
        signature = sign(record, sealer, python_utf8)
        lines.append(
            python_utf8.encode({**record.fields(), "record_id": tail, "signature": signature}) + b"\n"
        )
    path.write_bytes(b"".join(lines))
    assert make(path).verify_chain().dialect == "python-utf8"


# --- the import -----------------------------------------------------------------------------------


def test_an_import_keeps_what_the_record_says_and_where_it_comes_from(journal: V1Journal) -> None:
    moment = datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC)
    draft = Draft("hi", Kind.DECISION, Novelty.ROUTINE, {"role": "user"}, moment)
    record = journal.append(draft)
    [imported] = import_v1(journal)
    assert (imported.content, imported.kind, imported.novelty) == ("hi", Kind.DECISION, Novelty.ROUTINE)
    assert imported.timestamp == moment
    assert imported.metadata == {
        "role": "user",
        "imported": {
            "protocol": "v1",
            "record_id": record.record_id,
            "signature": record.signature,
            "prev_id": None,
            "timestamp": record.timestamp,
        },
    }


def test_the_old_signature_can_be_checked_from_the_new_journal_alone(
    journal: V1Journal, tmp_path: Path
) -> None:
    fill(journal, "a", "b")
    new = Journal(tmp_path / "v2", agent_id="agent", key=Key(KEY), witness=None, clock=FakeClock())
    new.open()
    new.append(list(import_v1(journal))).result(timeout=20)
    records = [record for record, _ in new.scan(after=0)]
    new.close()
    sealer = Sealer(KEY, domain=DOMAIN_V1)
    for record in records:
        origin = dict(record.metadata["imported"])
        metadata = {name: value for name, value in record.metadata.items() if name != "imported"}
        assert origin.pop("protocol") == "v1"
        old = V1Record(
            agent_id=record.agent_id,
            kind=record.kind,
            content=record.text,
            metadata=metadata,
            novelty=record.novelty,
            **origin,
        )
        assert sign(old, sealer, RFC_8785) == old.signature
    assert len(records) == 2


def test_a_chain_that_is_not_intact_is_not_imported(journal: V1Journal, path: Path) -> None:
    fill(journal, "a", "b")
    path.write_bytes(path.read_bytes().replace(b'"content":"a"', b'"content":"A"'))
    with pytest.raises(JournalCorrupt):
        import_v1(make(path))


def test_the_import_overwrites_nothing(journal: V1Journal) -> None:
    journal.append(Draft("a", metadata={"imported": "from somewhere else"}))
    with pytest.raises(RecordRejected):
        list(import_v1(journal))


@settings(max_examples=25)
@given(st.lists(st.text(max_size=20), max_size=5))
def test_whatever_is_appended_verifies_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, contents: list[str]
) -> None:
    journal = make(tmp_path_factory.mktemp("v1") / "stream.jsonl")
    records = fill(journal, "first", *contents)
    journal.close()
    assert [record.content for record in journal.records()] == ["first", *contents]
    assert list(journal.records()) == records
