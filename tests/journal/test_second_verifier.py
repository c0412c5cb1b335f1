"""The second verifier, written from FORMAT.md alone, and the package say the same (J18).

About every journal of the vectors, and about a few hundred that are damaged at random; about 10,000 of them
where the environment variable ``HIPPO_LONG`` is set.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hippo_async import errors
from hippo_async.files import Files
from hippo_async.journal import Journal, Key
from hippo_async.journal.v1 import V1Journal
from hippo_async.records import Draft, Kind
from hippo_async.testing import FakeClock

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_journal.py"
VECTORS = Path(__file__).parents[1] / "vectors"
LONG = "HIPPO_LONG" in os.environ
DAMAGED_V2 = 10_000 if LONG else 400
DAMAGED_V1 = 2_000 if LONG else 200
AGENT = "агент-7"
MASTER = bytes(range(32))
VERDICTS: dict[type[Exception], str] = {
    errors.JournalCorrupt: "corrupt",
    errors.AcknowledgedLoss: "acknowledged_loss",
    errors.HeadMismatch: "head_mismatch",
    errors.RolledBack: "rolled_back",
    errors.ForeignJournal: "foreign",
    errors.WrongKey: "wrong_key",
    errors.FormatTooNew: "newer_format",
    errors.NotFound: "absent",
}

Found = tuple[str, str | None, int | None, int | None]
"""Verdict, path, offset, seq."""
Tree = dict[str, bytes]
"""Files by path: the journal's own, and the witness's under ``witness/``."""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_journal", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by its name
    spec.loader.exec_module(module)
    return module


second = load()


def table(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_bytes())


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases])


KEYS, V1, V2, JOURNALS, CANONICAL = map(table, ("keys", "v1", "v2", "journals", "canonical"))
STORES = {store["name"]: store for store in JOURNALS["journals"]}


def by_script(root: Path, witness: Path, *, agent_id: str = AGENT, key: bytes = MASTER) -> Found:
    found = second.verify(root, agent_id=agent_id, key=key, witness=witness)
    return found.name, found.path, found.offset, found.seq


def by_package(root: Path, witness: Path) -> Found:
    """What opening says, and, if it has nothing against the journal, what the full walk says."""
    journal = Journal(
        root, agent_id=AGENT, key=Key(MASTER), witness=witness, read_only=True, clock=FakeClock()
    )
    with closing(journal):
        try:
            opened = journal.open()
        except errors.IntegrityError as error:
            return VERDICTS[type(error)], error.path.relative_to(root).as_posix(), error.offset, error.seq
        except (errors.FormatTooNew, errors.NotFound) as refusal:
            return VERDICTS[type(refusal)], None, None, None
        walked = journal.verify_chain()
        if not walked.intact:
            path = None if walked.path is None else walked.path.relative_to(root).as_posix()
            return "corrupt", path, walked.offset, walked.seq
        if opened.torn_bytes:
            live = max((root / f"gen-{journal.generation:06d}").glob("seg-*.jsonl"))
            offset = live.stat().st_size - opened.torn_bytes
            return "torn", live.relative_to(root).as_posix(), offset, opened.seq
        return "intact", None, None, opened.seq


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
    assert found == ("intact", None, None, len(store["ids"]) - 1)


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


# --- journals on disk and in memory ---------------------------------------------------------------


def tree_of(root: Path, witness: Path) -> Tree:
    """Read a journal and its witness into memory; locks are no part of it."""
    own = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    seen = {f"witness/{path.name}": path for path in witness.glob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in {**own, **seen}.items() if not name.startswith("LOCK")}


def lay_out(tree: Tree, base: Path) -> tuple[Path, Path]:
    """Write a journal and its witness to an empty place; return the two directories."""
    root, witness = base / "journal", base / "witness"
    for folder in (root, witness):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, data in tree.items():
        path = base / name if name.startswith("witness/") else root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return root, witness


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
    stored = [
        tree_of(VECTORS / "v2" / name, VECTORS / "v2" / f"{name}.witness") for name in ("plain", "purged")
    ]
    unpurged = tree_of(VECTORS / "v2" / "unpurged", VECTORS / "v2" / "unpurged.witness")
    return [*made, Base(stored[0], stored[0]), Base(stored[1], unpurged)]


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


# --- the two verifiers where the wording of the format is put to the test ---------------------------

FIRST = "gen-000001/seg-000000000000.jsonl"


def no_record_and_no_state(tree: Tree) -> Found:
    tree[FIRST] = b""
    tree["HEAD"] = tree["HEAD"].replace(b"} ", b"} 0")
    return "head_mismatch", "HEAD", 0, -1


def no_first_segment_and_no_head(tree: Tree) -> Found:
    tree["gen-000001/seg-000000000001.jsonl"] = tree.pop(FIRST)
    del tree["HEAD"]
    return "corrupt", "gen-000001/seg-000000000001.jsonl", 0, 0


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
    tree = tree_of(VECTORS / "v2" / "accepted", VECTORS / "v2" / "accepted.witness")
    expected = edit(tree)
    places = lay_out(tree, tmp_path)
    assert by_script(*places) == expected
    assert by_package(*places) == expected


def test_a_purge_that_was_lost_is_a_loss_to_both(tmp_path: Path) -> None:
    """Its record lies in a closed segment: what opening finds comes before what the full walk finds."""
    tree = tree_of(VECTORS / "v2" / "purged", VECTORS / "v2" / "purged.witness")
    tree["gen-000002/seg-000000000004.jsonl"] = b""
    places = lay_out(tree, tmp_path)
    assert by_script(*places) == by_package(*places)
    assert by_script(*places) == ("acknowledged_loss", "gen-000002/seg-000000000004.jsonl", 0, 4)


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
    assert {"intact", "torn", "malformed", "wrong_signature", "broken_link"} <= verdicts.keys()
