"""Damaged segments of a v2 journal: tails, single lines, lines no writer writes, closed segments."""

from __future__ import annotations

from typing import Any

from damage import END, LIVE, PLAIN, PURGED, STORES, Edit, case, delete, splice, write
from reference import V2Journal

SEGMENTS = "gen-000001/SEGMENTS"


def damaged_segments() -> list[dict[str, Any]]:
    """All cases."""
    return [*_tails(), *_live_lines(), *_sealed_nonsense(), *_closed_segments()]


def _next(content: str = "not acknowledged by HEAD", **changed: Any) -> bytes:
    """The line of a ninth record; ``changed`` header fields make it one that no writer writes."""
    fields = {
        "timestamp": "2026-01-03T10:00:00.000000Z",
        "kind": "state",
        "novelty": "novel",
        "type": "record",
    }
    return _line(PLAIN.journal, content, {**fields, **changed})


def _line(journal: V2Journal, content: str, fields: dict[str, Any]) -> bytes:
    copy = V2Journal(
        journal.master, journal.journal_id, journal.agent_id, epoch=journal.epoch, previous=journal.previous
    )
    copy.records = list(journal.records)
    copy.add(content, metadata={}, **fields)
    return str(copy.records[-1]["line"]).encode()


def _tails() -> list[dict[str, Any]]:
    whole = _next()
    long = _next("x" * 2000)
    sector = 512 * (END // 512 + 2) - END
    holed = long[:sector] + bytes(512) + long[sector + 512 :]
    last = END - PLAIN.offset(7)
    lost = (LIVE, PLAIN.offset(7), 7)
    return [
        case("a whole record beyond HEAD", [splice(LIVE, END, 0, whole)], "intact", seq=8),
        case("half a record beyond HEAD", [splice(LIVE, END, 0, whole[:100])], "torn", LIVE, END, 7),
        case("a record without its newline", [splice(LIVE, END, 0, whole[:-1])], "torn", LIVE, END, 7),
        case("zeros at the end", [splice(LIVE, END, 0, bytes(4096))], "torn", LIVE, END, 7),
        case("a last record with a sector of zeros", [splice(LIVE, END, 0, holed)], "torn", LIVE, END, 7),
        case(
            "a whole record, then half a one",
            [splice(LIVE, END, 0, whole + whole[:100])],
            "torn",
            LIVE,
            END + len(whole),
            8,
        ),
        case("a last line that is no record", [splice(LIVE, END, 0, b"garbage\n")], "corrupt", LIVE, END, 8),
        case(
            "a last record with a wrong seal",
            [splice(LIVE, END, 0, whole[:-5] + b'zz"}\n')],
            "corrupt",
            LIVE,
            END,
            8,
        ),
        case(
            "half a record, then a whole one",
            [splice(LIVE, END, 0, whole[:100] + whole)],
            "corrupt",
            LIVE,
            END,
            8,
        ),
        case("a holed record, then another", [splice(LIVE, END, 0, holed + whole)], "torn", LIVE, END, 7),
        case(
            "a bad record, then a holed one",
            [splice(LIVE, END, 0, b"garbage\n" + holed)],
            "corrupt",
            LIVE,
            END,
            8,
        ),
        case(
            "an acknowledged record with a sector of zeros",
            [splice(LIVE, PLAIN.offset(6), 2 * 512, bytes(2 * 512))],
            "acknowledged_loss",
            LIVE,
            PLAIN.offset(6),
            6,
        ),
        case("the last newline is gone", [splice(LIVE, END - 1, 1)], "acknowledged_loss", *lost),
        case(
            "the last newline is another byte",
            [splice(LIVE, END - 1, 1, b"\x0b")],
            "acknowledged_loss",
            *lost,
        ),
        case("the last record is gone", [splice(LIVE, END - last, last)], "acknowledged_loss", *lost),
        case("the live segment is empty", [write(LIVE, b"")], "acknowledged_loss", LIVE, 0, 5),
        case("the live segment is gone", [delete(LIVE)], "acknowledged_loss", LIVE, 0, 5),
    ]


def _live_lines() -> list[dict[str, Any]]:
    lines = {seq: PLAIN.journal.line(seq).encode() for seq in (5, 6, 7)}
    at = {seq: PLAIN.offset(seq) for seq in (5, 6, 7)}
    sixth = lines[6]

    def change(seq: int, old: bytes, new: bytes) -> Edit:
        return splice(LIVE, at[seq] + lines[seq].index(old), len(old), new)

    tag = PLAIN.journal.records[6]["seal"].encode()
    foreign = PURGED.journal.line(6).encode()
    sealed = {
        "the header is changed": change(6, b'"transfer"', b'"state"'),
        "the payload is changed": change(6, b"sent", b"kept"),
        "the seal is changed": change(6, tag, tag[1:] + tag[:1]),
        "the seal is in upper case": change(6, tag, tag.upper()),
        "the id is changed": change(6, b'"id":"', b'"id":"0'),
        "a blank is added": change(6, b'"payload":', b'"payload": '),
        "the payload is gone and no purge names it": change(
            6, PLAIN.journal.records[6]["payload"].encode(), b"null"
        ),
        "a record is gone": splice(LIVE, at[6], len(sixth)),
        "a record of another journal stands there": splice(LIVE, at[6], len(sixth), foreign),
        "a version of its own": change(6, b'"v":2', b'"v":3'),
    }
    return [
        *(case(name, [edit], "corrupt", LIVE, at[6], 6) for name, edit in sealed.items()),
        case("the last record is changed", [change(7, b"system", b"sistem")], "corrupt", LIVE, at[7], 7),
        case("a record stands twice", [splice(LIVE, at[7], 0, sixth)], "corrupt", LIVE, at[7], 7),
        case("two records are swapped", [splice(LIVE, 0, at[7], sixth + lines[5])], "corrupt", LIVE, 0, 5),
        case("an empty line", [splice(LIVE, at[6], 0, b"\n")], "corrupt", LIVE, at[6], 6),
    ]


def _sealed_nonsense() -> list[dict[str, Any]]:
    """Lines that a holder of the key sealed and that no writer of this format writes."""
    changed: dict[str, dict[str, Any]] = {
        "a type that v2 does not have": {"type": "rumour"},
        "a kind that v2 does not have": {"kind": "rumour"},
        "a novelty that v2 does not have": {"novelty": "shocking"},
        "a second genesis": {"type": "genesis"},
        "a purge that names nothing": {"type": "purge"},
        "a later version in a v2 journal": {"v": 3},
        "another key epoch": {"epoch": 1},
        "another agent": {"agent_id": "agent-8"},
        "another journal": {"journal_id": "ee" * 16},
        "a seq is left out": {"seq": 9},
        "a link to the record before the last": {"prev_id": PLAIN.journal.records[6]["record_id"]},
        "a header field more": {"zone": "UTC"},
    }
    old = STORES["rotated-old"]
    fields = {
        "timestamp": "2026-01-03T10:00:00.000000Z",
        "kind": "state",
        "novelty": "novel",
        "type": "record",
    }
    late = _line(old.journal, "too late", fields)
    after = splice(old.path(2), old.offset(3), 0, late)
    beside = "gen-000001/seg-000000000003.jsonl"
    return [
        *(
            case(f"sealed: {name}", [splice(LIVE, END, 0, _next(**fields))], "corrupt", LIVE, END, 8)
            for name, fields in changed.items()
        ),
        case(
            "sealed: a record behind the close", [after], "corrupt", old.path(2), old.offset(3), 3, store=old
        ),
        case(
            "sealed: a record behind the close, in a segment of its own",
            [write(beside, late)],
            "corrupt",
            beside,
            0,
            3,
            store=old,
        ),
    ]


def _closed_segments() -> list[dict[str, Any]]:
    first, second = PLAIN.path(0), PLAIN.path(3)
    body = PLAIN.segments[(3, 4)]
    fourth = PLAIN.offset(4)
    older = PLAIN.journal.closed_list({(0, 2): PLAIN.segments[(0, 2)]})
    other = STORES["unpurged"].files()["v2/unpurged/gen-000001/SEGMENTS"]
    listed = PLAIN.files()["v2/plain/gen-000001/SEGMENTS"]
    extra = "gen-000001/seg-000000000001.jsonl"
    far = "gen-000001/seg-000000000009.jsonl"
    missing = {
        "SEGMENTS is gone": delete(SEGMENTS),
        "SEGMENTS is changed": splice(SEGMENTS, 5, 1, b"G"),
        "SEGMENTS has no newline": splice(SEGMENTS, len(listed) - 1, 1),
        "SEGMENTS is another journal's": write(SEGMENTS, other),
    }
    return [
        case(
            "a closed segment is changed",
            [splice(second, fourth + 30, 1, b"~")],
            "corrupt",
            second,
            fourth,
            4,
        ),
        case(
            "a closed segment is cut in a line",
            [splice(second, len(body) - 9, 9)],
            "corrupt",
            second,
            fourth,
            4,
        ),
        case(
            "a closed segment lacks its last record", [write(second, body[:fourth])], "corrupt", second, 0, 3
        ),
        case("a closed segment is gone", [delete(second)], "corrupt", second, 0, 3),
        case("the first segment is gone", [delete(first)], "corrupt", first, 0, 0),
        case("a segment that is not in the list", [write(extra, b"")], "corrupt", extra, 0, 1),
        case("a segment too far", [write(far, b"")], "corrupt", far, 0, 8),
        case("SEGMENTS does not yet list the last closed segment", [write(SEGMENTS, older)], "intact", seq=7),
        *(case(name, [edit], "corrupt", SEGMENTS, 0, 0) for name, edit in missing.items()),
    ]
