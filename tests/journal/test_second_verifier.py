"""The second verifier, written from FORMAT.md alone, and the package say the same of every vector (J18)."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journal_vectors import VECTORS, named, table
from two_verifiers import (
    AGENT,
    MASTER,
    SCRIPT,
    Found,
    Tree,
    by_package,
    by_script,
    lay_out,
    second,
    stored,
    tree_of,
)

KEYS, V1, V2, JOURNALS, CANONICAL = map(table, ("keys", "v1", "v2", "journals", "canonical"))
STORES = {store["name"]: store for store in JOURNALS["journals"]}

# --- alone ----------------------------------------------------------------------------------------


def test_it_imports_nothing_but_the_standard_library() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported
    assert imported <= sys.stdlib_module_names


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """A question on the command line: the plain journal of the vectors, its agent, key and witness."""
    shutil.copytree(VECTORS / "v2" / "plain", tmp_path / "plain")
    key_file = tmp_path / "key"
    key_file.write_text(MASTER.hex() + "\n")
    key_file.chmod(0o600)
    witness = VECTORS / "v2" / "plain.witness"
    return [str(tmp_path / "plain"), "--agent", AGENT, "--key-file", str(key_file), "--witness", str(witness)]


def test_an_intact_journal_is_exit_code_0(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert second.main(asked) == 0
    assert capsys.readouterr().out == "intact: chain intact\n"


def test_any_other_verdict_is_exit_code_1(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (Path(asked[0]) / "HEAD").unlink()
    assert second.main([*asked, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    reason = found.pop("reason")
    assert found == {"name": "head_mismatch", "path": "HEAD", "offset": 0, "seq": 7}
    assert "HEAD" in reason


@pytest.mark.parametrize("wrong", ["no key file", "a key that others can read", "no agent"])
def test_a_question_put_wrongly_is_exit_code_2(
    asked: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key_file = Path(asked[4])
    if wrong == "no key file":
        key_file.unlink()
    elif wrong == "a key that others can read":
        key_file.chmod(0o644)
    else:
        del asked[1:3]
    with pytest.raises(SystemExit) as exited:
        second.main(asked)
    assert exited.value.code == 2
    assert capsys.readouterr().out == ""


# --- the vectors ----------------------------------------------------------------------------------


@named(CANONICAL["written"])
def test_it_writes_canonical_json_as_stored(case: dict[str, str]) -> None:
    assert second.canonical(json.loads(case["text"])).decode() == case["canonical"]


@named(CANONICAL["refused"])
def test_it_refuses_what_has_no_canonical_form(case: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        second.canonical(json.loads(case["text"]))


@pytest.mark.parametrize("case", KEYS["derived"])
def test_it_derives_the_stored_keys(case: dict[str, str]) -> None:
    master = bytes.fromhex(case["master_key"])
    assert second.derive_key(master, case["journal_id"], case["purpose"]).hex() == case["key"]


@named(KEYS["key_files"])
def test_it_reads_a_key_file_or_refuses_it(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(case["text"].encode())
    path.chmod(0o600)
    if case["key"] is None:
        with pytest.raises(ValueError):
            second.verify(tmp_path, agent_id=AGENT, key=second.read_key_file(path))
    else:
        assert second.read_key_file(path).hex() == case["key"]


@named(V2["refused"])
def test_it_refuses_a_bad_line(case: dict[str, str]) -> None:
    key = second.derive_key(bytes.fromhex(V2["master_key"]), V2["journal_id"], "record")
    with pytest.raises(ValueError):
        second.check_line(case["line"].encode(), key)


@named(V2["refused_documents"])
def test_it_refuses_a_bad_document(case: dict[str, str]) -> None:
    key = second.derive_key(bytes.fromhex(V2["master_key"]), V2["journal_id"], "head")
    with pytest.raises(ValueError):
        second.open_document(case["text"].encode(), key, second.State._fields)


@pytest.mark.parametrize("name", STORES)
def test_it_finds_a_stored_journal_intact(name: str) -> None:
    store = STORES[name]
    root = VECTORS / "v2" / name
    key = bytes.fromhex(store["master_key"])
    found = by_script(root, root.with_name(f"{name}.witness"), agent_id=store["agent_id"], key=key)
    assert found == ("intact", None, None, store["last"])


@named(JOURNALS["damaged"])
def test_it_judges_a_damaged_journal_as_stored(case: dict[str, Any], tmp_path: Path) -> None:
    tree = tree_of(VECTORS / "v2" / case["journal"], VECTORS / "v2" / f"{case['journal']}.witness")
    apply_edits(tree, case["edits"], case["journal"])
    root, witness = lay_out(tree, tmp_path)
    told = {**STORES[case["journal"]], **case}
    found = by_script(root, witness, agent_id=told["agent_id"], key=bytes.fromhex(told["master_key"]))
    assert found == (case["verdict"], case["file"], case["offset"], case["seq"])
    assert tree_of(root, witness) == tree


@pytest.mark.parametrize("case", V1["streams"], ids=lambda case: case["dialect"])
def test_it_finds_a_stored_v1_stream_intact(case: dict[str, Any]) -> None:
    found = second.verify(VECTORS / case["file"], agent_id=V1["agent_id"], key=bytes.fromhex(V1["key"]))
    assert (found.name, found.seq, found.reason) == ("intact", case["records"], "chain intact")


@named(V1["damaged"])
def test_it_judges_a_damaged_v1_stream_as_stored(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes("".join(case["lines"]).encode("latin-1"))
    found = second.verify(path, agent_id=V1["agent_id"], key=bytes.fromhex(V1["key"]))
    assert (found.name.replace("_", " "), found.seq) == (case["verdict"], case["records"])
    assert found.offset == (None if found.name == "intact" else case["offset"])
    if case["verdict"] in {"wrong signature", "broken link"}:
        assert found.reason.endswith(f"in {case['record_id']}")


def apply_edits(tree: Tree, edits: list[dict[str, Any]], journal: str) -> None:
    """Do what a vector says; its paths go out of the journal's directory for the witness."""
    for edit in edits:
        name = edit["file"].replace(f"../{journal}.witness/", "witness/")
        if "delete" in edit:
            del tree[name]
        elif "write" in edit:
            tree[name] = bytes.fromhex(edit["write"])
        else:
            data, end = tree[name], edit["at"] + edit["remove"]
            tree[name] = data[: edit["at"]] + bytes.fromhex(edit["insert"]) + data[end:]


# --- the two verifiers where the wording of the format is put to the test ---------------------------

FIRST = "gen-000001/seg-000000000000.jsonl"


def no_record_and_no_state(tree: Tree) -> Found:
    tree[FIRST] = b""
    tree["HEAD"] = tree["HEAD"].replace(b"} ", b"} 0")
    return "head_mismatch", "HEAD", 0, -1


def no_first_segment_and_no_head(tree: Tree) -> Found:
    tree["gen-000001/seg-000000000001.jsonl"] = tree.pop(FIRST)
    del tree["HEAD"]
    return "corrupt", "gen-000001/seg-000000000001.jsonl", 0, 1


def a_live_segment_that_is_empty_and_too_far(tree: Tree) -> Found:
    tree["gen-000001/seg-000000000009.jsonl"] = b""
    return "corrupt", "gen-000001/seg-000000000009.jsonl", 0, 3


def a_slot_behind_the_two_of_head(tree: Tree) -> Found:
    tree["HEAD"] = bytes(1024) + tree["HEAD"][:512]
    return "intact", None, None, 2


def a_header_of_another_agent_that_is_cut(tree: Tree) -> Found:
    tree[FIRST] = b'{"header":{"agent_id":"someone else"'
    del tree["HEAD"]
    return "foreign", FIRST, 0, 0


def a_later_version_in_other_clothes(tree: Tree) -> Found:
    tree[FIRST] = f'{{"header":{{"agent_id":"{AGENT}","text":"{"long " * 1000}","v":3}},"id":"\n'.encode()
    return "newer_format", None, None, None


@pytest.mark.parametrize(
    "edit",
    [
        no_record_and_no_state,
        no_first_segment_and_no_head,
        a_live_segment_that_is_empty_and_too_far,
        a_slot_behind_the_two_of_head,
        a_header_of_another_agent_that_is_cut,
        a_later_version_in_other_clothes,
    ],
    ids=lambda edit: edit.__name__,
)
def test_both_read_the_format_alike(edit: Callable[[Tree], Found], tmp_path: Path) -> None:
    tree = stored("accepted")
    expected = edit(tree)
    places = lay_out(tree, tmp_path)
    assert by_script(*places) == expected
    assert by_package(*places) == expected


def test_a_purge_that_was_lost_is_a_loss_to_both(tmp_path: Path) -> None:
    """Its record lies in a closed segment: what opening finds comes before what the full walk finds."""
    tree = stored("purged")
    tree["gen-000002/seg-000000000004.jsonl"] = b""
    places = lay_out(tree, tmp_path)
    assert by_script(*places) == by_package(*places)
    assert by_script(*places) == ("acknowledged_loss", "gen-000002/seg-000000000004.jsonl", 0, 4)
