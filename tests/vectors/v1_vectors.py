"""Vectors of protocol v1: records, whole streams in each dialect, and what becomes of damaged ones."""

from __future__ import annotations

import json
from typing import Any

from canonical_vectors import MASTER, NEXT_MASTER
from reference import V1, V2, V1Stream

AGENT = "агент-7"
DIALECTS = ("rfc8785", "compact-utf8", "python", "python-utf8", "compact-ascii")
TEXTS: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("2026-01-01T09:00:00.000000Z", "observation", "novel", "My name is Ada.", {}),
    (
        "2026-01-01T09:00:01+00:00",
        "decision",
        "prediction_error",
        "Пишем по-русски и 中文 👋",
        {"weight": 1.0},
    ),
    (
        "2026-01-02T00:00:00Z",
        "state",
        "routine",
        'quote " tab \t',
        {"ключ": [None, True, -1], "nested": {"b": 1, "a": 2}},
    ),
    ("2026-01-02T23:59:59.999999Z", "identity_change", "novel", "", {"weight": 0.25}),
]


def stream(
    dialect: str = "rfc8785", *, key: bytes = MASTER, agent: str = AGENT, domain: str = V1
) -> V1Stream:
    """The same four records in one dialect."""
    made = V1Stream(key, agent, dialect, domain)
    for timestamp, kind, novelty, content, metadata in TEXTS:
        made.add(content, timestamp=timestamp, kind=kind, novelty=novelty, metadata=metadata)
    return made


def streams() -> dict[str, bytes]:
    """The files: one stream a dialect."""
    return {f"v1/{dialect}.jsonl": b"".join(stream(dialect).lines) for dialect in DIALECTS}


def v1() -> dict[str, Any]:
    """All records with the bytes that were hashed and signed, and the verdicts on streams, damaged or not."""
    intact = [
        {
            "file": f"v1/{dialect}.jsonl",
            "dialect": dialect,
            "records": len(TEXTS),
            "record_id": stream(dialect).records[-1]["fields"]["record_id"],
            "unmatched_ids": 0,
        }
        for dialect in DIALECTS
    ]
    return {
        "key": MASTER.hex(),
        "agent_id": AGENT,
        "records": [record for dialect in DIALECTS for record in stream(dialect).records],
        "streams": intact,
        "damaged": _changed_lines() + _changed_order() + _foreign() + _malformed(),
    }


def _case(
    name: str, lines: list[bytes], verdict: str, at: int, *, named: bool = True, unmatched: int = 0
) -> dict[str, Any]:
    """A stream whose walk ends with a verdict at line ``at``, which is told by its record id if ``named``."""
    return {
        "name": name,
        "lines": [line.decode("latin-1") for line in lines],
        "verdict": verdict,
        "records": at,
        "offset": sum(map(len, lines[:at])),
        "record_id": _id(lines[at] if at < len(lines) else lines[-1]) if named and lines else None,
        "unmatched_ids": unmatched,
    }


def _id(line: bytes) -> str:
    return str(json.loads(line)["record_id"])


def _edit(at: int, old: str, new: str) -> list[bytes]:
    lines = stream().lines
    changed = lines[at].replace(old.encode(), new.encode(), 1)
    assert changed != lines[at], (at, old)
    return [*lines[:at], changed, *lines[at + 1 :]]


def _changed_lines() -> list[dict[str, Any]]:
    ids = [record["fields"]["record_id"] for record in stream().records]
    seal = stream().records[1]["fields"]["signature"]
    wrong = "wrong signature"
    return [
        _case("the content is changed", _edit(0, "Ada", "Eve"), wrong, 0),
        _case("the kind is changed", _edit(1, '"decision"', '"error"'), wrong, 1),
        _case("the timestamp is changed", _edit(2, "2026-01-02", "2026-01-03"), wrong, 2),
        _case("the metadata are changed", _edit(3, "0.25", "0.26"), wrong, 3),
        _case("the agent is changed", _edit(0, "-7", "-8"), wrong, 0),
        _case("prev_id is changed", _edit(2, f'prev_id":"{ids[1]}', f'prev_id":"{ids[0]}'), wrong, 2),
        _case("the signature is changed", _edit(1, seal, seal[:-1] + "x"), wrong, 1),
        _case("the signature is in upper case", _edit(1, seal, seal.upper()), wrong, 1),
        _case(
            "the novelty is changed: not signed, not noticed",
            _edit(1, "prediction_error", "routine"),
            "intact",
            4,
        ),
        _case(
            "an id is changed",
            _edit(1, f'record_id":"{ids[1]}', 'record_id":"' + "0" * 32),
            "broken link",
            2,
            unmatched=1,
        ),
        _case("the last id is changed", _edit(3, ids[3], "0" * 32), "intact", 4, unmatched=1),
        _case(
            "blanks are added: what is signed is the value",
            _edit(1, '{"agent_id":', '{ "agent_id": '),
            "intact",
            4,
        ),
    ]


def _changed_order() -> list[dict[str, Any]]:
    first, second, third, last = stream().lines
    return [
        _case("empty", [], "intact", 0, named=False),
        _case("the first line is gone", [second, third, last], "broken link", 0),
        _case("a line is gone", [first, third, last], "broken link", 1),
        _case("two lines are swapped", [first, third, second, last], "broken link", 1),
        _case("a line stands twice", [first, second, second, third], "broken link", 2),
        _case("the last line is gone: not noticed", [first, second, third], "intact", 3),
        _case("the last line is cut", [first, second, third, last[:-9]], "torn", 3, named=False),
        _case("the last newline is gone", [first, second, third, last[:-1]], "torn", 3, named=False),
    ]


def _foreign() -> list[dict[str, Any]]:
    wrong = "wrong signature"
    rumour = V1Stream(MASTER, AGENT)
    rumour.add("x", timestamp="2026-01-01T00:00:00Z", kind="rumour", novelty="novel", metadata={})
    elsewhere = V1Stream(MASTER, AGENT, domain=V2)
    elsewhere.add("x", timestamp="2026-01-01T00:00:00Z", kind="rumour", novelty="novel", metadata={}, extra=1)
    mixed = stream("rfc8785").lines[:1] + stream("python").lines[1:]
    return [
        _case("a foreign domain", stream(domain=V2).lines, wrong, 0),
        _case("a foreign domain, with a kind and a field of its own", elsewhere.lines, wrong, 0),
        _case("a foreign key", stream(key=NEXT_MASTER).lines, wrong, 0),
        _case("another agent under the same key", stream(agent="agent-8").lines, "foreign agent", 0),
        _case("a kind that v1 does not have, signed as v1", rumour.lines, "malformed", 0),
        _case("a second dialect in the same stream", mixed, wrong, 1),
    ]


def _malformed() -> list[dict[str, Any]]:
    first, second, _, last = stream().lines
    broken = {
        "a line that is no JSON": b"garbage\n",
        "an empty line": b"\n",
        "a line that is no object": b"[]\n",
        "a line that is no UTF-8": second.replace("中文".encode(), b"\xff\xfe"),
        "a key twice": second.replace(b'{"agent_id"', b'{"kind":"decision","agent_id"'),
        "a missing field": second.replace(b'"novelty":"prediction_error",', b""),
        "content that is no text": second.replace(second.split(b'"content":')[1].split(b',"kind"')[0], b"1"),
        "NaN": second.replace(b'"weight":1', b'"weight":NaN'),
        "a line of protocol v2": b'{"header":{},"id":"","payload":null,"seal":""}\n',
    }
    unnamed = [_case(name, [first, line, last], "malformed", 1, named=False) for name, line in broken.items()]
    return [
        *unnamed,
        _case("a novelty that v1 does not have", _edit(1, "prediction_error", "shocking"), "malformed", 1),
        _case("a tenth field", _edit(1, '{"agent_id"', '{"a":1,"agent_id"'), "malformed", 1),
    ]


def v1_anchored(day: str) -> list[dict[str, str]]:
    """What a day's anchor takes from the stream."""
    names = ("record_id", "timestamp", "novelty")
    return [
        {name: record["fields"][name] for name in names}
        for record in stream().records
        if record["fields"]["timestamp"].startswith(day)
    ]
