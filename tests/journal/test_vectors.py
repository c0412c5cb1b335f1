"""The package, the stored vectors and FORMAT.md say the same (J18)."""

from __future__ import annotations

import datetime
import json
import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from journal_vectors import VECTORS, VERDICTS, named, table

from hippo_async import errors
from hippo_async.files import Files
from hippo_async.journal.anchor import Anchored, daily_anchor
from hippo_async.journal.canon import canonical
from hippo_async.journal.codec import (
    BadLine,
    Header,
    commitment_of,
    encode_header,
    encode_line,
    encode_payload,
    open_line,
)
from hippo_async.journal.journal import Journal
from hippo_async.journal.keys import Key, read_key
from hippo_async.journal.seal import DOMAIN_V1, Purpose, Sealer, derive_key, hkdf_sha256
from hippo_async.journal.sealed import open_document, seal_document
from hippo_async.journal.v1 import V1Journal, import_v1
from hippo_async.journal.v1_codec import DIALECTS, encode_v1, open_v1, record_id_of, sign
from hippo_async.records import Draft
from hippo_async.testing.clock import FakeClock

FORMAT = Path(__file__).parents[2] / "hippo_async" / "journal" / "FORMAT.md"

CANONICAL, KEYS, V1, V2, JOURNALS, ANCHORS = map(
    table, ("canonical", "keys", "v1", "v2", "journals", "anchors")
)
STORES = {store["name"]: store for store in JOURNALS["journals"]}


# --- the vectors themselves -----------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What the generator makes today."""
    monkeypatch.syspath_prepend(str(VECTORS))
    build: Callable[[], dict[str, bytes]] = runpy.run_path(str(VECTORS / "make_vectors.py"))["build"]
    return build()


def test_the_stored_vectors_are_what_the_generator_makes(made: dict[str, bytes]) -> None:
    kept = {path for path in VECTORS.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    data = {path.relative_to(VECTORS).as_posix(): path.read_bytes() for path in kept}
    sources = {name for name in data if name.endswith((".py", ".md", ".gitattributes"))}
    assert data.keys() - sources == made.keys()
    assert {name: data[name] for name in made} == made


def test_the_generator_shares_no_code_with_the_package() -> None:
    for source in VECTORS.glob("*.py"):
        assert "hippo_async" not in source.read_text().replace("hippo_async/journal/FORMAT.md", "")


def test_each_example_line_of_format_md_stands_in_the_vectors() -> None:
    blocks = FORMAT.read_text().split("```")[1::2]
    examples = [block.removeprefix("example\n") for block in blocks if block.startswith("example\n")]
    stored = [
        path.read_text() for path in VECTORS.rglob("*") if path.suffix == ".jsonl" or path.name == "SEGMENTS"
    ]
    stored += [document["text"] + "\n" for document in V2["documents"]]
    stored += [anchor["payload"] + "\n" for anchor in ANCHORS]
    assert len(examples) >= 4
    for example in examples:
        assert any(example in text for text in stored), example


# --- canonical JSON and keys ----------------------------------------------------------------------


@named(CANONICAL["written"])
def test_a_value_is_written_canonically(case: dict[str, str]) -> None:
    assert canonical(json.loads(case["text"])).decode() == case["canonical"]


@named(CANONICAL["written"])
def test_a_canonical_text_is_its_own_canonical_form(case: dict[str, str]) -> None:
    assert canonical(json.loads(case["canonical"])).decode() == case["canonical"]


@named(CANONICAL["refused"])
def test_a_value_without_canonical_form_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(errors.RecordRejected):
        canonical(json.loads(case["text"]))


@pytest.mark.parametrize("case", KEYS["hkdf"])
def test_hkdf_agrees_with_rfc_5869(case: dict[str, Any]) -> None:
    secret, salt, info = (bytes.fromhex(case[name]) for name in ("secret", "salt", "info"))
    assert hkdf_sha256(secret, salt=salt, info=info, length=case["length"]).hex() == case["output"]


@pytest.mark.parametrize("case", KEYS["derived"])
def test_a_derived_key_agrees(case: dict[str, str]) -> None:
    master = bytes.fromhex(case["master_key"])
    key = derive_key(master, journal_id=case["journal_id"], purpose=Purpose(case["purpose"]))
    assert key.hex() == case["key"]


@named(KEYS["key_files"])
def test_a_key_file_is_read_or_refused(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(case["text"].encode())
    path.chmod(0o600)
    if case["key"] is None:
        with pytest.raises(errors.KeyFileError):
            read_key(Files(), path)
    else:
        assert read_key(Files(), path).secret.hex() == case["key"]


# --- protocol v1 ----------------------------------------------------------------------------------

V1_SEALER = Sealer(bytes.fromhex(V1["key"]), domain=DOMAIN_V1)


@pytest.mark.parametrize(
    "case", V1["records"], ids=lambda case: f"{case['dialect']}-{case['fields']['kind']}"
)
def test_a_v1_record_is_read_signed_and_written_as_stored(case: dict[str, Any]) -> None:
    dialect = next(dialect for dialect in DIALECTS if dialect.name == case["dialect"])
    record = open_v1(case["line"].encode(), V1_SEALER, dialect)
    assert record.fields() == case["fields"]
    assert sign(record, V1_SEALER, dialect) == case["fields"]["signature"]
    assert record_id_of(record, dialect) == case["fields"]["record_id"]
    assert encode_v1(record, dialect).decode() == case["line"]


def v1_journal(path: Path) -> V1Journal:
    key = bytes.fromhex(V1["key"])
    return V1Journal(path, agent_id=V1["agent_id"], key=key, files=Files(), clock=FakeClock())


@pytest.mark.parametrize("case", V1["streams"], ids=lambda case: case["dialect"])
def test_a_v1_stream_verifies_in_its_dialect(case: dict[str, Any]) -> None:
    report = v1_journal(VECTORS / case["file"]).verify_chain()
    assert report.intact
    found = (report.dialect, report.records, report.record_id, report.unmatched_ids)
    assert found == (case["dialect"], case["records"], case["record_id"], case["unmatched_ids"])


@named(V1["damaged"])
def test_a_damaged_v1_stream_is_judged_as_stored(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes("".join(case["lines"]).encode("latin-1"))
    report = v1_journal(path).verify_chain()
    found = {name: getattr(report, name) for name in ("records", "offset", "record_id", "unmatched_ids")}
    assert {"verdict": str(report.verdict), **found} == {name: case[name] for name in ("verdict", *found)}


@pytest.mark.parametrize("case", V1["streams"], ids=lambda case: case["dialect"])
def test_a_v1_stream_goes_on_in_its_dialect(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    shutil.copy(VECTORS / case["file"], path)
    journal = v1_journal(path)
    record = journal.append(Draft("ещё одна", metadata={"weight": 2.0}))
    journal.close()
    report = v1_journal(path).verify_chain()
    assert record.prev_id == case["record_id"]
    assert (report.intact, report.dialect, report.record_id) == (True, case["dialect"], record.record_id)


# --- v2: lines and documents ----------------------------------------------------------------------


def sealer(store: dict[str, Any], purpose: Purpose) -> Sealer:
    master = bytes.fromhex(store["master_key"])
    return Sealer(derive_key(master, journal_id=store["journal_id"], purpose=purpose))


@pytest.mark.parametrize("case", V2["lines"], ids=lambda case: f"{case['journal']}-{case['seq']}")
def test_a_v2_line_is_opened_and_written_as_stored(case: dict[str, Any]) -> None:
    record_sealer = sealer(STORES[case["journal"]], Purpose.RECORD)
    header, frame = open_line(case["line"].encode(), record_sealer)
    body = json.loads(case["payload"])
    payload = encode_payload(body["content"], body["metadata"], salt=body["salt"])
    stored = encode_header(header, agent_json=canonical(header.agent_id).decode())
    assert (header.seq, header.type, header) == (
        case["seq"],
        case["type"],
        Header(**json.loads(case["header"])),
    )
    assert (stored.decode(), payload.decode()) == (case["header"], case["payload"])
    assert commitment_of(payload) == header.commitment
    assert record_sealer.seal(stored) == case["seal"] == frame.seal.decode()
    assert encode_line(stored, payload, case["seal"]) == (case["record_id"], case["line"].encode())


@named(V2["refused"])
def test_a_bad_v2_line_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(BadLine):
        open_line(case["line"].encode(), sealer(V2, Purpose.RECORD))


@pytest.mark.parametrize("case", V2["documents"], ids=lambda case: case["purpose"])
def test_a_sealed_document_is_opened_and_written_as_stored(case: dict[str, str]) -> None:
    document = open_document(case["text"].encode(), sealer(V2, Purpose(case["purpose"])))
    assert document is not None
    assert seal_document(document, sealer(V2, Purpose(case["purpose"]))).decode() == case["text"]


@named(V2["refused_documents"])
def test_a_bad_document_is_refused(case: dict[str, str]) -> None:
    assert open_document(case["text"].encode(), sealer(V2, Purpose.HEAD)) is None


# --- v2: whole journals ---------------------------------------------------------------------------


def lay_out(name: str, tmp_path: Path) -> Path:
    """Copy a stored journal and its witness; return the journal's directory."""
    root = tmp_path / name
    shutil.copytree(VECTORS / "v2" / name, root)
    shutil.copytree(VECTORS / "v2" / f"{name}.witness", tmp_path / f"{name}.witness")
    return root


def open_stored(root: Path, case: dict[str, Any], *, read_only: bool) -> Journal:
    store = {**STORES[root.name], **case}
    return Journal(
        root,
        agent_id=store["agent_id"],
        key=Key(bytes.fromhex(store["master_key"])),
        witness=root.with_name(f"{root.name}.witness"),
        read_only=read_only,
        clock=FakeClock(),
    )


@pytest.mark.parametrize("name", STORES)
def test_a_stored_journal_opens_and_holds_what_it_should(name: str, tmp_path: Path) -> None:
    store = STORES[name]
    journal = open_stored(lay_out(name, tmp_path), {}, read_only=True)
    report = journal.open()
    assert (report.seq, report.torn_bytes, report.notes) == (store["last"], 0, ())
    records = [record for record, _ in journal.scan()]
    assert [record.record_id for record in records] == store["ids"]
    assert [record.seq for record in records if record.purged] == store["purged"]
    assert (journal.journal_id, journal.generation) == (store["journal_id"], store["generation"])
    assert journal.verify_chain().intact


@pytest.mark.parametrize("name", [name for name in STORES if not STORES[name]["closed"]])
def test_a_stored_journal_goes_on(name: str, tmp_path: Path) -> None:
    store = STORES[name]
    root = lay_out(name, tmp_path)
    journal = open_stored(root, {}, read_only=False)
    journal.open()
    [(record, location)] = journal.append([Draft("и дальше")]).result(timeout=10)
    journal.close()
    again = open_stored(root, {}, read_only=True)
    assert again.open().seq == record.seq == store["last"] + 1
    assert record.prev_id == store["ids"][-1]
    assert again.read(location, record.record_id) == record
    assert again.verify_chain().intact
    segment = root / f"gen-{store['generation']:06d}" / f"seg-{location.segment:012d}.jsonl"
    assert f'"epoch":{store["epoch"]},'.encode() in segment.read_bytes().splitlines()[-1]


def apply_edits(root: Path, edits: list[dict[str, Any]]) -> None:
    for edit in edits:
        path = root / edit["file"]
        if "delete" in edit:
            path.unlink()
            continue
        path.parent.mkdir(exist_ok=True)
        if "write" in edit:
            path.write_bytes(bytes.fromhex(edit["write"]))
        else:
            data = path.read_bytes()
            end = edit["at"] + edit["remove"]
            path.write_bytes(data[: edit["at"]] + bytes.fromhex(edit["insert"]) + data[end:])


def judge(journal: Journal, root: Path) -> dict[str, Any]:
    """Open a journal and put what happens into the words of the vectors."""
    try:
        report = journal.open()
    except errors.IntegrityError as error:
        place = error.path.relative_to(root).as_posix()
        return {"verdict": VERDICTS[type(error)], "file": place, "offset": error.offset, "seq": error.seq}
    except (errors.FormatTooNew, errors.NotFound) as refusal:
        return {"verdict": VERDICTS[type(refusal)], "file": None, "offset": None, "seq": None}
    if report.torn_bytes:
        live = max(path for path in root.rglob("seg-*"))
        offset = live.stat().st_size - report.torn_bytes
        return {
            "verdict": "torn",
            "file": live.relative_to(root).as_posix(),
            "offset": offset,
            "seq": report.seq,
        }
    return {"verdict": "intact", "file": None, "offset": None, "seq": report.seq}


@named(JOURNALS["damaged"])
def test_a_damaged_journal_is_judged_as_stored(case: dict[str, Any], tmp_path: Path) -> None:
    root = lay_out(case["journal"], tmp_path)
    apply_edits(root, case["edits"])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    found = judge(open_stored(root, case, read_only=True), root)
    assert found == {name: case[name] for name in found}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@named([case for case in JOURNALS["damaged"] if case["verdict"] == "torn"])
def test_a_torn_tail_is_cut_where_the_vector_says(case: dict[str, Any], tmp_path: Path) -> None:
    root = lay_out(case["journal"], tmp_path)
    apply_edits(root, case["edits"])
    torn = (root / case["file"]).read_bytes()[case["offset"] :]
    journal = open_stored(root, case, read_only=False)
    report = journal.open()
    journal.close()
    assert (root / case["file"]).stat().st_size == case["offset"]
    assert report.torn_copy is not None
    assert report.torn_copy.read_bytes() == torn


@named(JOURNALS["unfinished"])
def test_a_new_journal_is_begun_only_where_none_was(case: dict[str, Any], tmp_path: Path) -> None:
    root = lay_out(case["journal"], tmp_path)
    apply_edits(root, case["edits"])
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    journal = open_stored(root, {}, read_only=False)
    if case["begins"]:
        assert journal.open().created
        journal.close()
        return
    with pytest.raises(errors.HeadMismatch):
        journal.open()
    locks = {root / "LOCK", root / "LOCK.holder"}
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path not in locks}
    assert after == before


# --- anchors --------------------------------------------------------------------------------------


def anchored(name: str, tmp_path: Path) -> Iterator[Anchored]:
    if name == "v1":
        yield from v1_journal(VECTORS / "v1" / "rfc8785.jsonl").records()
        return
    journal = open_stored(lay_out(name, tmp_path), {}, read_only=True)
    journal.open()
    yield from (record for record, _ in journal.scan())


@pytest.mark.parametrize("case", ANCHORS, ids=lambda case: f"{case['journal']}-{case['date']}")
def test_a_daily_anchor_agrees(case: dict[str, str], tmp_path: Path) -> None:
    day = datetime.date.fromisoformat(case["date"])
    anchor = daily_anchor(anchored(case["journal"], tmp_path), agent_id=V1["agent_id"], date=day)
    assert canonical(anchor.as_dict()).decode() == case["payload"]
    assert anchor.anchor_payload_hash.hex() == case["anchor_payload_hash"]


# --- from one protocol to the other ---------------------------------------------------------------


def test_an_imported_v1_stream_reads_the_same_in_v2(tmp_path: Path) -> None:
    old = v1_journal(VECTORS / "v1" / "rfc8785.jsonl")
    journal = Journal(
        tmp_path / "new", agent_id=V1["agent_id"], key=Key(bytes.fromhex(V1["key"])), witness=None
    )
    journal.open()
    journal.append(list(import_v1(old))).result(timeout=10)
    records = [record for record, _ in journal.scan(after=0)]
    journal.close()
    assert [record.content for record in records] == [record.content for record in old.records()]
    assert [record.metadata["imported"]["record_id"] for record in records] == [
        record.record_id for record in old.records()
    ]
