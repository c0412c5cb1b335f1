"""Vectors of protocol v2: five whole journals with their lines and sealed documents, and single bad lines."""

from __future__ import annotations

import json
from typing import Any

from canonical_vectors import JOURNAL_ID, MASTER, NEXT_MASTER
from reference import V2Journal, document, framed, jcs, seal, sha256

AGENT = "агент-7"


def _day(day: int, second: int = 0) -> str:
    return f"2026-01-{day:02d}T09:00:{second:02d}.000000Z"


def _begin(journal: V2Journal) -> None:
    metadata = {"hippo": {"format": 2, "previous": journal.previous}}
    journal.add(
        "genesis", timestamp=_day(1), kind="state", novelty="novel", metadata=metadata, type="genesis"
    )


def _say(journal: V2Journal, content: str, *, day: int = 1, novelty: str = "novel", **metadata: Any) -> str:
    return journal.add(
        content,
        timestamp=_day(day, len(journal.records)),
        kind="observation",
        novelty=novelty,
        metadata=metadata,
        type="record",
    )


def plain() -> V2Journal:
    """Every kind and novelty, and texts that try the framing."""
    journal = V2Journal(MASTER, JOURNAL_ID, AGENT)
    _begin(journal)
    _say(journal, "My name is Ada and I live in Lisbon.", role="user", session="s1", source="user")
    _say(journal, "Приятно познакомиться, Ада. 你好！ 👋", novelty="routine", role="assistant", session="s1")
    others: list[tuple[int, str, str, str, dict[str, Any]]] = [
        (
            1,
            "decision",
            "prediction_error",
            'quote " backslash \\ tab \t newline \n null \0 del \x7f u+2028 \u2028',
            {},
        ),
        (1, "error", "novel", "", {"ключ": [True, None, -1, 0.25, 1e21], "nested": {"b": {}, "a": []}}),
        (3, "state", "routine", '"},"id":"00","payload":null,"seal":"', {"scope": ["tenant", "user"]}),
        (3, "transfer", "novel", "sent", {"amount": 9007199254740991}),
        (
            3,
            "identity_change",
            "prediction_error",
            "the system document was replaced",
            {"tags": ["identity"]},
        ),
    ]
    for day, kind, novelty, content, metadata in others:
        timestamp = _day(day, len(journal.records))
        journal.add(
            content, timestamp=timestamp, kind=kind, novelty=novelty, metadata=metadata, type="record"
        )
    return journal


def forgetful() -> V2Journal:
    """Records 2 and 4 are named by the purge record 5."""
    journal = V2Journal(MASTER, "b0" * 16, AGENT)
    _begin(journal)
    _say(journal, "kept")
    gone = [_say(journal, "a secret to forget")]
    _say(journal, "kept too", day=2)
    gone.append(_say(journal, "another secret", day=2))
    _add_structural(journal, "purge", {"records": sorted(gone)}, day=2)
    _say(journal, "afterwards", day=2)
    return journal


def rotated() -> tuple[V2Journal, V2Journal]:
    """A journal that was closed, and the one that goes on under a new key."""
    old = V2Journal(MASTER, "c0" * 16, AGENT)
    _begin(old)
    _say(old, "under the first key")
    last_id = _add_structural(old, "close", {"next": {"epoch": 1, "journal_id": "c1" * 16}}, day=2)
    previous = {"journal_id": old.journal_id, "record_id": last_id, "seq": 2}
    new = V2Journal(NEXT_MASTER, "c1" * 16, AGENT, epoch=1, previous=previous)
    _begin(new)
    _say(new, "under the second key", day=2)
    return old, new


def accepted() -> V2Journal:
    """A journal whose owner accepted that it was rolled back from record 7 to record 1."""
    journal = V2Journal(MASTER, "d0" * 16, AGENT)
    _begin(journal)
    _say(journal, "before the backup")
    seen = {"generation": 1, "number": 11, "record_id": "ab" * 16, "seq": 7}
    _add_structural(journal, "accept", {"reason": "rolled_back", "seen": seen}, day=2)
    return journal


def _add_structural(journal: V2Journal, type_: str, hippo: dict[str, Any], *, day: int) -> str:
    kind = "identity_change" if type_ == "close" else "state"
    timestamp = _day(day, len(journal.records))
    return journal.add(
        type_, timestamp=timestamp, kind=kind, novelty="novel", metadata={"hippo": hippo}, type=type_
    )


class Store:
    """A journal laid out in files: its segments by (first, last).

    The last one is live and maybe still empty, unless the journal ends with a close.
    """

    def __init__(
        self,
        name: str,
        journal: V2Journal,
        spans: list[tuple[int, int]],
        *,
        generation: int = 1,
        number: int,
        purged: frozenset[int] = frozenset(),
    ) -> None:
        self.name, self.journal, self.spans = name, journal, spans
        self.generation, self.number, self.purged = generation, number, purged
        self.last = journal.start + len(journal.records) - 1
        self.segments = {span: journal.segment(*span, purged) for span in spans}

    @property
    def closed(self) -> dict[tuple[int, int], bytes]:
        """The closed segments."""
        ended = self.journal.records[-1]["type"] == "close"
        return {span: self.segments[span] for span in (self.spans if ended else self.spans[:-1])}

    def heads(self, purpose: str = "head") -> bytes:
        """Both slots: the last state in slot 0, the one before it in slot 1."""
        states = [
            self.journal.state(self.last - back, number=self.number - back, generation=self.generation)
            for back in (0, 1)
        ]
        return b"".join(self.journal.slot(state, purpose) for state in states)

    def path(self, seq: int) -> str:
        """The segment that holds a record."""
        first = next(first for first, last in self.spans if first <= seq <= last)
        return f"gen-{self.generation:06d}/seg-{first:012d}.jsonl"

    def offset(self, seq: int) -> int:
        """Where the line of a record begins in its segment; one past the last record: where it ends."""
        first = next(first for first, last in self.spans if first <= seq <= last + (last == self.last))
        return len(self.journal.segment(first, seq - 1, self.purged))

    def files(self) -> dict[str, bytes]:
        """All files, the witness among them, by path."""
        generation = f"gen-{self.generation:06d}"
        segments = {
            f"{generation}/seg-{first:012d}.jsonl": data for (first, _), data in self.segments.items()
        }
        inside = {
            "CURRENT": f"{generation}\n".encode(),
            "HEAD": self.heads(),
            f"{generation}/SEGMENTS": self.journal.closed_list(self.closed, generation=self.generation),
            **segments,
        }
        made = {f"v2/{self.name}/{path}": data for path, data in inside.items()}
        made[f"v2/{self.name}.witness/{self.journal.journal_id}"] = self.heads("witness")
        return made


def stores() -> dict[str, Store]:
    """The stored journals by name."""
    old, new = rotated()
    made = [
        Store("plain", plain(), [(0, 2), (3, 4), (5, 7)], number=5),
        Store("unpurged", forgetful(), [(0, 3), (4, 6)], number=8),
        Store("purged", forgetful(), [(0, 3), (4, 6)], generation=2, number=9, purged=frozenset({2, 4})),
        Store("rotated-old", old, [(0, 2)], number=3),
        Store("rotated-new", new, [(3, 4), (5, 4)], number=2),
        Store("accepted", accepted(), [(0, 2)], number=12),
    ]
    return {store.name: store for store in made}


def v2() -> dict[str, Any]:
    """Every line of the journals with its parts, sealed documents, and lines that must be refused."""
    lines = [
        {"journal": store.name, "seq": seq, **record}
        for store in stores().values()
        if store.name != "purged"
        for seq, record in enumerate(store.journal.records, store.journal.start)
    ]
    journal = plain()
    closed = json.loads(journal.closed_list(stores()["plain"].closed).partition(b" ")[0])
    documents = [
        {"purpose": "head", "text": document(journal.key("head"), journal.state(7, number=5))},
        {"purpose": "witness", "text": document(journal.key("witness"), journal.state(7, number=5))},
        {"purpose": "segments", "text": document(journal.key("segments"), closed)},
    ]
    return {
        "master_key": MASTER.hex(),
        "journal_id": JOURNAL_ID,
        "lines": lines,
        "documents": documents,
        "refused": _refused_lines(journal),
        "refused_documents": _refused_documents(documents[0]["text"]),
    }


def _refused_lines(journal: V2Journal) -> list[dict[str, str]]:
    record, other = journal.records[1], journal.records[2]
    line, seal_text, record_id = record["line"], record["seal"], record["record_id"]
    turned = line.replace(f',"id":"{record_id}"', "").replace("{", f'{{"id":"{record_id}",', 1)
    changed = {
        "a blank before the header": line.replace('{"header":', '{"header": '),
        "a blank at the end": line.replace('"}\n', '" }\n'),
        "members in another order": turned,
        "carriage return": line.replace("\n", "\r\n"),
        "no newline": line.rstrip("\n"),
        "seal in upper case": line.replace(seal_text, seal_text.upper()),
        "seal too short": line.replace(seal_text, seal_text[:-1]),
        "seal of another record": line.replace(seal_text, other["seal"]),
        "seal with a character that is not ASCII": line.replace(seal_text, "é" + seal_text[2:]),
        "header changed": line.replace('"seq":1', '"seq":2'),
        "header with blanks": line.replace('"seq":1', '"seq": 1'),
        "id changed": line.replace(f'"id":"{record_id}', '"id":"' + "0" * 32),
        "id in upper case": line.replace(record_id, record_id.upper()),
        "payload changed": line.replace("Lisbon", "Lisboa"),
        "payload with blanks": line.replace('"payload":{', '"payload":{ '),
        "payload of another record": line.replace(record["payload"], other["payload"]),
        "payload an empty string": line.replace(record["payload"], '""'),
        "payload null with a blank": line.replace(record["payload"], "null "),
        "no payload": line.replace(record["payload"], ""),
        "header with a field more": _sealed(
            journal, record["header"].replace('"v":2', '"u":0,"v":2'), record
        ),
        "header with a field less": _sealed(journal, record["header"].replace('"epoch":0,', ""), record),
        "header with no field": _sealed(journal, "{}", record),
        "of protocol v1": '{"agent_id":"a","record_id":"' + record_id + '"}\n',
        "empty": "\n",
    }
    assert all(text != line for text in changed.values())
    return [{"name": name, "line": text} for name, text in changed.items()]


def _sealed(journal: V2Journal, header: str, record: dict[str, Any]) -> str:
    """A line whose header is sealed as it should be, and is no header of v2."""
    tag = seal(journal.key("record"), header)
    return framed(header, sha256(header)[:32], record["payload"], tag)


def _refused_documents(text: str) -> list[dict[str, str]]:
    body, _, tag = text.rpartition(" ")
    key = plain().key("head")
    spaced = body.replace(":", ": ")
    turned = jcs({"seq": 7}) + body
    changed = {
        "two blanks": f"{body}  {tag}",
        "no blank": body + tag,
        "no seal": body,
        "seal in upper case": f"{body} {tag.upper()}",
        "changed": f"{body.replace('7', '8', 1)} {tag}",
        "sealed, but not canonical": f"{spaced} {seal(key, spaced)}",
        "sealed, but two values": f"{turned} {seal(key, turned)}",
        "sealed for another purpose": document(plain().key("witness"), json.loads(body)),
        "empty": "",
    }
    return [{"name": name, "text": text} for name, text in changed.items()]
