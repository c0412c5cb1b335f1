"""Damage around the segments of a v2 journal: HEAD, witness, CURRENT, who opens it, what was purged."""

from __future__ import annotations

from typing import Any

from canonical_vectors import NEXT_MASTER
from damage import END, HEAD, LIVE, PLAIN, PURGED, STORES, Edit, case, delete, splice, write
from v2_vectors import AGENT, Store

WITNESS = f"../plain.witness/{PLAIN.journal.journal_id}"


def damaged_heads() -> list[dict[str, Any]]:
    """All cases."""
    return [*_heads(), *_witnesses(), *_identities(), *_purges()]


def _heads() -> list[dict[str, Any]]:
    state = PLAIN.journal.state
    slot = PLAIN.journal.slot
    loss = (LIVE, END, 8)

    def both(**changed: Any) -> Edit:
        return write(HEAD, 2 * slot({**state(7, number=9), **changed}))

    unknown = PLAIN.journal.records[1]["record_id"][::-1]
    mismatch = {
        "HEAD is gone": delete(HEAD),
        "HEAD is empty": write(HEAD, b""),
        "both slots of HEAD are damaged": write(HEAD, bytes(1024)),
        "the newlines of both slots are changed": write(HEAD, PLAIN.heads().replace(b"\n", b" ")),
        "HEAD is another journal's": write(HEAD, PURGED.heads()),
        "HEAD is the witness": write(HEAD, PLAIN.heads("witness")),
        "HEAD knows a later generation": both(generation=2),
        "HEAD names another record": both(record_id="0" * 32),
        "HEAD has a field more": both(zone="UTC"),
    }
    return [
        *(case(name, [edit], "head_mismatch", HEAD, 0, 7) for name, edit in mismatch.items()),
        case(
            "HEAD names another record of a closed segment",
            [both(seq=1, record_id=unknown)],
            "head_mismatch",
            HEAD,
            0,
            1,
        ),
        case("HEAD acknowledges a record more", [both(seq=8)], "acknowledged_loss", *loss),
        case("the newer slot of HEAD is damaged", [splice(HEAD, 20, 1, b"~")], "intact", seq=7),
        case("the older slot of HEAD is damaged", [splice(HEAD, 532, 1, b"~")], "intact", seq=7),
        case("HEAD is of long ago", [write(HEAD, 2 * slot(state(2, number=1)))], "intact", seq=7),
        case("HEAD is one slot long", [splice(HEAD, 512, 512)], "intact", seq=7),
    ]


def _witnesses() -> list[dict[str, Any]]:
    state = PLAIN.journal.state
    back = (LIVE, END, 8)

    def witness(**changed: Any) -> Edit:
        return write(WITNESS, 2 * PLAIN.journal.slot({**state(7, number=9), **changed}, "witness"))

    last = END - PLAIN.offset(7)
    older = [splice(LIVE, END - last, last), write(HEAD, 2 * PLAIN.journal.slot(state(6, number=4)))]
    rolled = {
        "the witness saw a record more": witness(seq=8),
        "the witness saw a later generation": witness(generation=2),
        "the witness saw another record": witness(record_id="0" * 32),
        "the witness saw another record of a closed segment": witness(seq=1, record_id="0" * 32),
    }
    harmless = {
        "the witness is gone": delete(WITNESS),
        "the witness is damaged": write(WITNESS, bytes(1024)),
        "the witness is a copy of HEAD": write(WITNESS, PLAIN.heads()),
        "the witness is of long ago": witness(
            seq=2, record_id=PLAIN.journal.records[2]["record_id"], number=1
        ),
    }
    return [
        *(case(name, [edit], "rolled_back", *back) for name, edit in rolled.items()),
        *(case(name, [edit], "intact", seq=7) for name, edit in harmless.items()),
        case("journal and HEAD are an older copy", older, "rolled_back", LIVE, PLAIN.offset(7), 7),
        case("the same without a witness: not noticed", [*older, delete(WITNESS)], "intact", seq=6),
    ]


def _identities() -> list[dict[str, Any]]:
    first = PLAIN.path(0)
    genesis = PLAIN.journal.line(0).encode()
    here = (first, 0, 0)
    wrong = NEXT_MASTER.hex()

    def change(old: bytes, new: bytes) -> list[Edit]:
        return [splice(first, genesis.index(old), len(old), new)]

    version = genesis.replace(b'"v":2', b'"v":3')
    return [
        case("another key", [], "wrong_key", *here, master_key=wrong),
        case("another key, and HEAD is gone", [delete(HEAD)], "wrong_key", *here, master_key=wrong),
        case("another agent", [], "foreign", *here, agent_id="agent-8"),
        case("the genesis names another agent", change(AGENT.encode(), b"agent-8"), "foreign", *here),
        case("the genesis names another journal", change(b'_id":"0001', b'_id":"0101'), "wrong_key", *here),
        case("the genesis is changed", change(b'"state"', b'"error"'), "corrupt", *here),
        case("a journal of a later version", [splice(first, 0, len(genesis), version)], "newer_format"),
        case("CURRENT is garbage", [write("CURRENT", b"1\n")], "corrupt", "CURRENT", 0, 0),
        case("CURRENT has no newline", [write("CURRENT", b"gen-000001")], "corrupt", "CURRENT", 0, 0),
        case(
            "CURRENT names what is not there",
            [write("CURRENT", b"gen-000002\n")],
            "corrupt",
            "gen-000002",
            0,
            0,
        ),
        case("CURRENT is gone", [delete("CURRENT")], "absent"),
    ]


def _purges() -> list[dict[str, Any]]:
    live = PURGED.path(6)
    files = STORES["unpurged"].files()
    before = [
        write(path.removeprefix("v2/unpurged/"), data)
        for path, data in files.items()
        if path.startswith("v2/unpurged/gen-") or path.endswith("/CURRENT")
    ]
    lagging = write(HEAD, files["v2/unpurged/HEAD"])

    def without_payload(seq: int) -> list[Edit]:
        line = PURGED.journal.line(seq).encode()
        empty = PURGED.journal.line(seq, purged=True).encode()
        return [splice(live, PURGED.offset(seq), len(line), empty)]

    return [
        case("CURRENT is set back to what was purged", before, "head_mismatch", HEAD, 0, 6, store=PURGED),
        case("HEAD does not yet know of the new generation", [lagging], "intact", seq=6, store=PURGED),
        case(
            "the purge record has no payload",
            without_payload(5),
            "corrupt",
            live,
            PURGED.offset(5),
            5,
            store=PURGED,
        ),
        case(
            "a record that no purge names",
            without_payload(6),
            "corrupt",
            live,
            PURGED.offset(6),
            6,
            store=PURGED,
        ),
    ]


def unfinished() -> list[dict[str, Any]]:
    """Directories without ``CURRENT``, and whether a writer may begin a new journal there."""
    current = delete("CURRENT")
    genesis = PLAIN.journal.segment(0, 0)
    beginning = _only(write(PLAIN.path(0), genesis))
    first_head = write(HEAD, 2 * PLAIN.journal.slot(PLAIN.journal.state(0, number=0)))
    later_head = write(HEAD, 2 * PLAIN.journal.slot(PLAIN.journal.state(0, number=1)))
    zeros = write(HEAD, bytes(512) + PLAIN.journal.slot(PLAIN.journal.state(0, number=0)))
    cases: list[tuple[str, list[Edit], bool, Store]] = [
        ("nothing but an empty generation", [*_only(delete(PLAIN.path(0))), delete(HEAD)], True, PLAIN),
        ("half a genesis", [*_only(write(PLAIN.path(0), genesis[:50])), delete(HEAD)], True, PLAIN),
        ("a genesis without HEAD", [*beginning, delete(HEAD)], True, PLAIN),
        ("a genesis and half a HEAD", [*beginning, zeros], True, PLAIN),
        ("a genesis and its HEAD", [*beginning, first_head], True, PLAIN),
        ("a genesis and a HEAD that was opened since", [*beginning, later_head], False, PLAIN),
        ("a HEAD of records that are gone", _only(delete(PLAIN.path(0))), False, PLAIN),
        ("records and HEAD", [current], False, PLAIN),
        ("records without HEAD", [current, delete(HEAD)], False, PLAIN),
        ("records of a later generation", [current, delete(HEAD)], False, PURGED),
    ]
    return [
        {"name": name, "journal": store.name, "edits": edits, "begins": begins}
        for name, edits, begins, store in cases
    ]


def _only(first: Edit) -> list[Edit]:
    """What leaves a beginning without ``CURRENT``: the later segments go, and the first is changed."""
    return [delete("CURRENT"), delete(PLAIN.path(3)), delete(PLAIN.path(5)), first]
