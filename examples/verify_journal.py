"""A second verifier of agents' journals, v1 and v2: one file, the standard library, nothing of the package.

    python verify_journal.py DIRECTORY --agent ID --key-file FILE [--witness DIR] [--json]
    python verify_journal.py OLDEST NEWEST --agent ID --key-file F --key-file F.1 [--witness DIR] [--json]
    python verify_journal.py stream.jsonl --agent ID --key-file FILE [--json]

It was written from FORMAT.md alone, so whoever has a journal and its key can check it without trusting the
software that wrote it. Only then was it compared with that software; where the wording had left two readings
open, it now takes the same one. Functions carry the names and numbers of the specification's sections and
steps. Nothing is written. Every segment is walked line by line, whatever its digest in SEGMENTS says.

Exit code: 0 if the journal is intact, 1 if it is not, 2 if the question was put wrongly.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

# --- §1: verdicts, text, canonical JSON -----------------------------------------------------------

MAX_INTEGER, MAX_DEPTH, MAX_LINE = 2**53 - 1, 64, 16_777_216


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and where: a path relative to the journal, a byte offset in it, and a seq."""

    name: str
    path: str | None
    offset: int | None
    seq: int | None
    reason: str


class Fault(Exception):
    """The first step that failed, with the verdict it gives."""

    def __init__(self, name: str, path: str | None, offset: int | None, seq: int | None, reason: str) -> None:
        self.verdict = Verdict(name, path, offset, seq, reason)


def require(condition: object, reason: str) -> None:
    """Raise ValueError with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def read(path: Path) -> bytes | None:
    """The bytes of a file, or None where there is none."""
    return path.read_bytes() if path.is_file() else None


def parse(data: bytes) -> Any:
    """Parse UTF-8 JSON; NaN, Infinity and a key that stands twice are none. Raises ValueError."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len(dict(pairs)) == len(pairs), "a key stands twice")
        return dict(pairs)

    try:
        return json.loads(data.decode("utf-8"), parse_constant=refuse, object_pairs_hook=members)
    except RecursionError:
        raise ValueError("nested too deeply to be parsed") from None


def claimed(text: bytes) -> dict[str, Any]:
    """The object that bytes hold which nothing vouches for yet; empty where there is none."""
    with suppress(ValueError):
        value = parse(text)
        return value if isinstance(value, dict) else {}
    return {}


def canonical_number(number: float) -> str:
    """A fraction as ECMAScript writes it, which is Python's way but for small exponents and whole numbers."""
    require(math.isfinite(number), "not finite")
    if number.is_integer() and abs(number) < 1e21:
        return canonical_text(int(number))
    plain = 1e-6 <= abs(number) < 1e-4
    return f"{Decimal(repr(number)):f}" if plain else repr(number).replace("e-0", "e-")


def canonical_text(value: object, depth: int = 1) -> str:
    """A value as RFC 8785 writes it. Raises ValueError if it has no canonical form."""
    require(depth <= MAX_DEPTH or not isinstance(value, dict | list), "nested too deeply")
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        members = (f"{canonical_text(key)}:{canonical_text(value[key], depth + 1)}" for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_text(item, depth + 1) for item in value) + "]"
    if isinstance(value, float):
        return canonical_number(value)
    if type(value) is int:
        require(abs(value) <= MAX_INTEGER, "integer out of range")
    return json.dumps(value, ensure_ascii=False)


def canonical(value: object) -> bytes:
    """Canonical JSON. Raises ValueError for a value that has none, one with a lone surrogate included."""
    return canonical_text(value).encode()


# --- §3: the v2 line ------------------------------------------------------------------------------

KINDS = ("state", "decision", "identity_change", "transfer", "error", "observation")
NOVELTIES = ("routine", "novel", "prediction_error")
TYPES = ("genesis", "record", "purge", "accept", "close")
FIELDS = ["agent_id", "commitment", "epoch", "journal_id", "kind", "novelty"]
FIELDS += ["prev_id", "seq", "timestamp", "type", "v"]
BEFORE_HEADER, AFTER_HEADER = b'{"header":', b'},"id":"'
BEHIND = re.compile(rb'(.{32})","payload":(.+),"seal":"(.{64})"\}\n', re.DOTALL)


def take_apart(line: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """HEADER, ID, PAYLOAD and SEAL, as stored. Raises ValueError for what is no line of v2."""
    start, _, rest = line.partition(AFTER_HEADER)
    parts = BEHIND.fullmatch(rest)
    if len(line) > MAX_LINE or not start.startswith(BEFORE_HEADER) or parts is None:
        raise ValueError("not the shape of a line")
    return start.removeprefix(BEFORE_HEADER) + b"}", parts[1], parts[2], parts[3]


def check_line(line: bytes, record_key: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Check one line by itself; return its ID, parsed HEADER and PAYLOAD. Raises ValueError."""
    header, record_id, payload, given = take_apart(line)
    require(hmac.compare_digest(given, seal(record_key, header)), "wrong seal")
    require(record_id == sha256(header)[:32].encode(), "the id is not the header's hash")
    fields = parse(header)
    require(isinstance(fields, dict) and sorted(fields) == FIELDS, "not the eleven fields")
    require(payload == b"null" or sha256(payload) == fields["commitment"], "not the payload committed to")
    return record_id.decode(), fields, payload


def claimed_header(start: bytes) -> dict[str, Any]:
    """The header that a first line claims, unchecked; empty where it claims none."""
    header = claimed(start.partition(AFTER_HEADER)[0] + b"}}").get("header")
    return header if isinstance(header, dict) else {}


def records_of_purge(payload: bytes) -> set[str]:
    """The ids that a purge line names. Raises ValueError if it names none in the form of §3."""
    try:
        records = parse(payload)["metadata"]["hippo"]["records"]
    except (KeyError, TypeError):
        raise ValueError("a purge that names no records") from None
    require(isinstance(records, list) and all(isinstance(item, str) for item in records), "no array of ids")
    return set(records)


def successor_of(payload: bytes) -> object:
    """The journal id and epoch that a close names, if it names them."""
    with suppress(ValueError, KeyError, TypeError):
        named = parse(payload)["metadata"]["hippo"]["next"]
        return named["journal_id"], named["epoch"]
    return None


# --- §4: keys -------------------------------------------------------------------------------------

DOMAIN_V1 = b"montana.agent.hippocampus.v1||"
DOMAIN_V2 = b"montana.agent.hippocampus.v2||"


def sha256(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def derive_key(master: bytes, journal_id: str, purpose: str) -> bytes:
    """HKDF-SHA-256 of 32 bytes: one block of RFC 5869."""
    secret = hmac.digest(bytes.fromhex(journal_id), master, "sha256")
    return hmac.digest(secret, DOMAIN_V2 + purpose.encode() + b"\x01", "sha256")


def seal(key: bytes, message: bytes) -> bytes:
    """The seal of a message under a derived key, in hex."""
    return hmac.new(key, DOMAIN_V2 + message, "sha256").hexdigest().encode()


def read_key_file(path: Path) -> bytes:
    """The master key. Raises ValueError for a file that is none, or that others can read or write."""
    require(path.stat().st_mode & 0o066 == 0, f"{path} can be read or written by others")
    digits = path.read_bytes().strip(b" \t\n\r\v\f")
    require(re.fullmatch(rb"[0-9a-fA-F]{64}", digits), f"{path} holds no key of 64 hex digits")
    return bytes.fromhex(digits.decode())


# --- §5: HEAD, witness, SEGMENTS ------------------------------------------------------------------

SLOT = 512


class State(NamedTuple):
    """How far a journal was acknowledged."""

    generation: int
    journal_id: str
    number: int
    record_id: str
    seq: int


class Closed(NamedTuple):
    """What SEGMENTS says of one closed segment."""

    first: int
    last: int
    last_id: str
    sha256: str
    size: int


def open_document(data: bytes, key: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The object of a sealed document. Raises ValueError if it does not verify."""
    body, _, given = data.rpartition(b" ")
    require(hmac.compare_digest(given, seal(key, body)), "wrong seal")
    document = parse(body)
    require(isinstance(document, dict) and tuple(sorted(document)) == fields, "not this document's fields")
    require(canonical(document) == body, "not canonical")
    return dict(document)


def slots_of(head: bytes | None) -> list[bytes]:
    """The slots of HEAD or of the witness, in a file of whatever length."""
    data = head or b""
    return [data[start : start + SLOT] for start in range(0, len(data), SLOT)]


def open_state(slot: bytes, key: bytes, journal_id: str) -> State:
    """The state in a slot. Raises ValueError if the slot is damaged."""
    require(len(slot) == SLOT and slot.endswith(b"\n"), "not the shape of a slot")
    state = State(**open_document(slot[:-1].rstrip(b" "), key, State._fields))
    numbers = (state.generation, state.number, state.seq)
    require(all(type(number) is int and number >= 0 for number in numbers), "not the values of a state")
    require(state.journal_id == journal_id, "the state of another journal")
    return state


def newest_state(head: bytes | None, key: bytes, journal_id: str) -> State | None:
    """The state with the highest number among the good slots."""
    states = []
    for slot in slots_of(head):
        with suppress(ValueError):
            states.append(open_state(slot, key, journal_id))
    return max(states, key=lambda state: state.number, default=None)


def open_segments(data: bytes | None, key: bytes, journal_id: str, generation: int) -> list[Closed]:
    """The closed segments. Raises ValueError if the list is missing, does not verify or is another's."""
    if data is None or not data.endswith(b"\n"):
        raise ValueError("SEGMENTS is missing or cut")
    document = open_document(data[:-1], key, ("generation", "journal_id", "segments"))
    ours = (document["journal_id"], document["generation"]) == (journal_id, generation)
    require(ours, "SEGMENTS is of another generation or journal")
    try:
        closed = [Closed(**entry) for entry in document["segments"]]
    except TypeError:
        raise ValueError("not the fields of a closed segment") from None
    types = [int, int, str, str, int]
    require(all(list(map(type, entry)) == types for entry in closed), "not the values of a closed segment")
    return closed


# --- §6: verification of v2 -----------------------------------------------------------------------

SEGMENT_NAME = re.compile(r"seg-([0-9]{12})\.jsonl")


@dataclass(slots=True)
class Chain:
    """What the segments walked so far hold."""

    journal_id: str
    agent_id: str
    record_key: bytes
    start: int = 0
    before: str | None = None
    epoch: int = 0
    closed: bool = False
    successor: object = None
    ids: list[str] = field(default_factory=list)
    bare: list[tuple[str, str, int, int]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    @property
    def last(self) -> int:
        """The seq of the last record; the one before the genesis where there is none."""
        return self.start + len(self.ids) - 1

    @property
    def last_id(self) -> str | None:
        """The ID of the last record; before the genesis the one that it names."""
        return self.ids[-1] if self.ids else self.before

    def has(self, state: State) -> bool:
        """Whether the record that a state names is there, at its place."""
        return self.start <= state.seq <= self.last and self.ids[state.seq - self.start] == state.record_id

    def add(self, line: bytes, path: str, offset: int) -> None:
        """Check a line and its place in the chain, then take it. Raises ValueError."""
        record_id, header, payload = check_line(line, self.record_key)
        seq, kind = self.last + 1, header["type"]
        require(header["v"] == 2 and kind in TYPES, "no version or type of v2")
        require(header["kind"] in KINDS and header["novelty"] in NOVELTIES, "no kind or novelty of v2")
        require(header["journal_id"] == self.journal_id, "a line of another journal")
        require(header["agent_id"] == self.agent_id, "a line of another agent")
        require(header["seq"] == seq, "seq does not continue the chain")
        require(header["prev_id"] == self.last_id, "prev_id does not continue the chain")
        require((kind == "genesis") == (not self.ids), "genesis is the first line and no other")
        require(self.ids or (seq == 0) == (self.last_id is None), "a genesis that continues nothing")
        require(not self.ids or header["epoch"] == self.epoch, "another epoch than the genesis")
        require(not self.closed, "a line behind the close")
        require(payload != b"null" or kind == "record", "a payload is missing that cannot be purged")
        if kind == "purge":
            self.named.update(records_of_purge(payload))
        if payload == b"null":
            self.bare.append((record_id, path, offset, seq))
        if kind == "close":
            self.successor = successor_of(payload)
        self.ids.append(record_id)
        self.epoch, self.closed = header["epoch"], kind == "close"


def is_torn(data: bytes, offset: int) -> bool:
    """§7: whether what lies at and after the offset is what a crash leaves of the last writes."""
    end = data.find(b"\n", offset)
    if end < 0 or not data[offset:].strip(b"\0"):
        return True
    sectors = range(-(-offset // SLOT) * SLOT, end - SLOT + 1, SLOT)
    return any(data[start : start + SLOT] == bytes(SLOT) for start in sectors)


class Verification:
    """One verification of one v2 journal: the steps of §6, in their order."""

    def __init__(self, root: Path, *, agent_id: str, key: bytes, witness: Path | None) -> None:
        self.root, self.agent_id, self.key, self.witness = root, agent_id, key, witness
        self.generation = 0
        self.chain = Chain("", agent_id, b"")

    def verdict(self, named_later: Iterable[str] = ()) -> Verdict:
        """Take the steps; the first that fails gives the verdict."""
        if not (self.root / "CURRENT").is_file():
            return Verdict("absent", None, None, None, "there is no journal here")
        try:
            self.step_1_current()
            self.step_2_segments()
            self.step_3_claims()
            self.chain.named.update(named_later)
            self.step_4_head_and_witness()
            self.step_5_agent()
            self.step_6_segments_list()
            self.step_7_closed_segments()
            self.step_8_live_segment()
            self.step_9_purges(self.chain.bare[self.listed_bare :])
            self.step_10_head()
            self.step_11_witness()
            self.step_9_purges(self.chain.bare)  # what only a full verification finds, it finds last
        except Fault as fault:
            return fault.verdict
        if self.torn:
            reason = f"the last write is torn: {self.torn}"
            return Verdict("torn", self.live, self.live_end, self.chain.last, reason)
        return Verdict("intact", None, None, self.chain.last, "chain intact")

    def step_1_current(self) -> None:
        """Which generation is in force."""
        name = re.fullmatch(rb"gen-([0-9]{6})\n", (self.root / "CURRENT").read_bytes())
        if name is None or int(name[1]) == 0:
            raise Fault("corrupt", "CURRENT", 0, 0, "CURRENT names no generation")
        self.generation = int(name[1])
        self.folder = f"gen-{self.generation:06d}"

    def path_of(self, first: int) -> str:
        """The path of the segment that begins with a seq."""
        return f"{self.folder}/seg-{first:012d}.jsonl"

    def step_2_segments(self) -> None:
        """List the segments, by the seq in their names."""
        names = (SEGMENT_NAME.fullmatch(path.name) for path in (self.root / self.folder).glob("seg-*"))
        self.found = sorted(int(name[1]) for name in names if name)
        if not self.found:
            raise Fault("corrupt", self.folder, 0, 0, "the generation has no segment")

    def step_3_claims(self) -> None:
        """Take the journal id from what the journal claims, and derive the keys."""
        self.head_bytes = read(self.root / "HEAD")
        start = (read(self.root / self.path_of(self.found[0])) or b"")[:4096]
        self.claimed = claimed_header(start)
        claims = [self.claimed, *(claimed(slot.partition(b" ")[0]) for slot in slots_of(self.head_bytes))]
        ids = (str(claim.get("journal_id")) for claim in claims)
        self.journal_id = next(filter(re.compile("[0-9a-f]{32}").fullmatch, ids), "0" * 32)
        key = derive_key(self.key, self.journal_id, "record")
        before = self.claimed.get("prev_id")
        self.chain = Chain(self.journal_id, self.agent_id, key, self.found[0])
        self.chain.before = before if isinstance(before, str) else None

    def step_4_head_and_witness(self) -> None:
        """Open HEAD and the witness, before the segments: a writer may be at work."""
        head_key = derive_key(self.key, self.journal_id, "head")
        self.head = newest_state(self.head_bytes, head_key, self.journal_id)
        seen = read(self.witness / self.journal_id) if self.witness else None
        witness_key = derive_key(self.key, self.journal_id, "witness")
        self.witnessed = newest_state(seen, witness_key, self.journal_id)

    def step_5_agent(self) -> None:
        """Whether the journal claims to be this agent's."""
        agent = self.claimed.get("agent_id")
        if isinstance(agent, str) and agent != self.agent_id:
            raise Fault("foreign", self.path_of(self.found[0]), 0, 0, "the journal of another agent")

    def step_6_segments_list(self) -> None:
        """Open SEGMENTS and compare it with the segments that are there."""
        path = f"{self.folder}/SEGMENTS"
        key = derive_key(self.key, self.journal_id, "segments")
        try:
            self.listed = open_segments(read(self.root / path), key, self.journal_id, self.generation)
        except ValueError as error:
            self.walk(self.found[0], may_be_torn=True)
            raise Fault("corrupt", path, 0, 0, str(error)) from None
        self.step_2_segments()
        first_listed = {closed.first for closed in self.listed}
        end = max(first_listed, default=-1)
        for first in sorted(first_listed.symmetric_difference(self.found)):
            if first <= end:
                there = "there and not listed" if first in self.found else "listed and not there"
                raise Fault("corrupt", self.path_of(first), 0, first, f"a segment is {there}")

    def walk(self, first: int, *, may_be_torn: bool = False) -> tuple[bytes, int, str]:
        """Walk a segment; return its bytes, where the chain ends in them and, if it is torn there, why."""
        path, offset = self.path_of(first), 0
        data = (self.root / path).read_bytes()
        if first != self.chain.last + 1:
            raise Fault("corrupt", path, 0, self.chain.last + 1, "not the segment that comes next")
        try:
            while offset < len(data):
                end = data.find(b"\n", offset) + 1
                require(end, "the line is not complete")
                self.chain.add(data[offset:end], path, offset)
                offset = end
        except ValueError as error:
            if may_be_torn and is_torn(data, offset):
                return data, offset, str(error)
            raise self.walk_failure(data, path, offset, str(error)) from None
        return data, offset, ""

    def walk_failure(self, data: bytes, path: str, offset: int, reason: str) -> Fault:
        """The verdict of a line that does not pass and is not torn."""
        seq, version, first = self.chain.last + 1, claimed_header(data).get("v"), not self.chain.ids
        if first and type(version) is int and version > 2:
            return Fault("newer_format", None, None, None, "written by a later protocol")
        if first and self.head is None and not self.is_sealed(data.partition(b"\n")[0] + b"\n"):
            return Fault("wrong_key", path, offset, seq, "nothing here verifies under this key")
        return Fault("corrupt", path, offset, seq, reason)

    def is_sealed(self, line: bytes) -> bool:
        """Whether a line is sealed under this key, whatever its place."""
        with suppress(ValueError):
            return bool(check_line(line, self.chain.record_key))
        return False

    def step_7_closed_segments(self) -> None:
        """Walk the listed segments and compare their digests; then those that a crash left unlisted."""
        for closed in self.listed:
            data, _, _ = self.walk(closed.first)
            same = (len(data), sha256(data)) == (closed.size, closed.sha256)
            if not same or (self.chain.last, self.chain.last_id) != (closed.last, closed.last_id):
                raise Fault("corrupt", self.path_of(closed.first), 0, closed.first, "not the segment listed")
        self.listed_bare = len(self.chain.bare)
        self.unlisted = self.found[len(self.listed) :]
        for first in self.unlisted[:-1]:
            self.walk(first)

    def step_8_live_segment(self) -> None:
        """Walk the live segment; where there is none it is the empty one that would begin next."""
        self.live, self.live_end, self.torn = self.path_of(self.chain.last + 1), 0, ""
        if self.unlisted:
            self.live = self.path_of(self.unlisted[-1])
            _, self.live_end, self.torn = self.walk(self.unlisted[-1], may_be_torn=True)

    def step_9_purges(self, bare: list[tuple[str, str, int, int]]) -> None:
        """Each record without a payload must be named by a purge."""
        for record_id, path, offset, seq in bare:
            if record_id not in self.chain.named:
                raise Fault("corrupt", path, offset, seq, f"no purge names {record_id}")

    def step_10_head(self) -> None:
        """All that HEAD acknowledged must be there."""
        state, last = self.head, self.chain.last
        if state is None:
            raise Fault("head_mismatch", "HEAD", 0, last, "HEAD is missing or damaged")
        if state.generation > self.generation:
            raise Fault("head_mismatch", "HEAD", 0, state.seq, "HEAD is of a later generation")
        if state.seq > last:
            raise Fault("acknowledged_loss", self.live, self.live_end, last + 1, f"HEAD knows {state.seq}")
        if not self.chain.has(state):
            raise Fault("head_mismatch", "HEAD", 0, state.seq, "HEAD knows another record at its seq")

    def step_11_witness(self) -> None:
        """All that the witness saw must be there."""
        state = self.witnessed
        if state and (state.generation > self.generation or not self.chain.has(state)):
            reason = f"the witness saw seq {state.seq} of generation {state.generation}"
            raise Fault("rolled_back", self.live, self.live_end, self.chain.last + 1, reason)


# --- §10: protocol v1 -----------------------------------------------------------------------------

V1_TEXTS = ("record_id", "agent_id", "timestamp", "kind", "novelty", "content", "signature")
V1_SIGNED = ("agent_id", "content", "kind", "metadata", "prev_id", "timestamp")


def python_dialect(*, ascii_only: bool, separators: tuple[str, str]) -> Callable[[object], bytes]:
    """A dialect in which Python's own encoder writes."""

    encoder = json.JSONEncoder(
        sort_keys=True, ensure_ascii=ascii_only, separators=separators, allow_nan=False
    )
    return lambda value: encoder.encode(value).encode()


DIALECTS: dict[str, Callable[[object], bytes]] = {
    "rfc8785": canonical,
    "compact-utf8": python_dialect(ascii_only=False, separators=(",", ":")),
    "python": python_dialect(ascii_only=True, separators=(", ", ": ")),
    "python-utf8": python_dialect(ascii_only=False, separators=(", ", ": ")),
    "compact-ascii": python_dialect(ascii_only=True, separators=(",", ":")),
}


def parse_v1(line: bytes) -> dict[str, Any]:
    """A line with the nine fields, perhaps with more. Raises ValueError if it is malformed."""
    require(len(line) <= MAX_LINE, "the line is too long")
    record = parse(line)
    require(isinstance(record, dict), "no object")
    require(all(isinstance(record.get(name), str) for name in V1_TEXTS), "a field is missing or no text")
    require(isinstance(record.get("metadata"), dict), "metadata is no object")
    require("prev_id" in record and isinstance(record["prev_id"], str | None), "prev_id is no id")
    return dict(record)


def is_signed_v1(record: dict[str, Any], key: bytes, write: Callable[[object], bytes]) -> bool:
    """Whether the signature is that of the fields in a dialect; a value that it cannot write has none."""
    try:
        message = DOMAIN_V1 + write({name: record[name] for name in V1_SIGNED})
    except (ValueError, RecursionError):
        return False
    signature = hmac.new(key, message, "sha256").hexdigest().encode()
    return hmac.compare_digest(record["signature"].encode("utf-8", "surrogatepass"), signature)


def judge_v1(record: dict[str, Any], last_id: str | None, agent_id: str, *, signed: bool) -> tuple[str, str]:
    """The verdict of one line in its place, and the reason."""
    if not signed:
        return "wrong_signature", f"signature mismatch in {record['record_id']}"
    if len(record) > 9 or record["kind"] not in KINDS or record["novelty"] not in NOVELTIES:
        return "malformed", "a tenth field, or a kind or novelty that is not in the set"
    if record["prev_id"] != last_id:
        return "broken_link", f"chain break in {record['record_id']}"
    if record["agent_id"] != agent_id:
        return "foreign_agent", f"another agent in {record['record_id']}"
    return "intact", "chain intact"


def walk_v1(data: bytes, path: str, agent_id: str, key: bytes, dialect: str) -> Verdict:
    """Walk a stream in one dialect; `seq` counts the records before the verdict."""
    last_id: str | None = None
    offset = 0
    *lines, rest = data.split(b"\n")
    for seq, line in enumerate(lines):
        try:
            record = parse_v1(line + b"\n")
        except ValueError as error:
            return Verdict("malformed", path, offset, seq, str(error))
        signed = is_signed_v1(record, key, DIALECTS[dialect])
        name, reason = judge_v1(record, last_id, agent_id, signed=signed)
        if name != "intact":
            return Verdict(name, path, offset, seq, reason)
        last_id, offset = record["record_id"], offset + len(line) + 1
    if rest:
        return Verdict("torn", path, offset, len(lines), "the last line has no newline")
    return Verdict("intact", None, None, len(lines), "chain intact")


def verify_v1(stream: Path, *, agent_id: str, key: bytes) -> Verdict:
    """Verify a stream in the first dialect that fits it, or else in the one whose walk came furthest."""
    data = stream.read_bytes()
    verdicts = [walk_v1(data, stream.name, agent_id, key, dialect) for dialect in DIALECTS]
    intact = (verdict for verdict in verdicts if verdict.name == "intact")
    return next(intact, None) or max(verdicts, key=lambda verdict: verdict.seq or 0)


# --- §9: journals that continue each other ----------------------------------------------------------


def continues(later: Chain, earlier: Chain) -> bool:
    """Whether a journal takes over exactly where another was closed."""
    taken = (later.start - 1, later.before) == (earlier.last, earlier.last_id)
    return earlier.closed and taken and earlier.successor == (later.journal_id, later.epoch)


def verify_rotated(
    directories: Sequence[Path], *, agent_id: str, keys: Sequence[bytes], witness: Path | None
) -> Verdict:
    """Verify an agent's journals, oldest first, each under its key, and that each continues the one before.

    They are taken from the newest on, since a later journal may purge what an earlier one holds. The first
    that fails, in that order, gives the verdict.
    """
    later: Chain | None = None
    named: set[str] = set()
    newest = Verdict("absent", None, None, None, "there is no journal here")
    for root, key in reversed(list(zip(directories, keys, strict=True))):
        asked = Verification(root, agent_id=agent_id, key=key, witness=witness)
        verdict = asked.verdict(named)
        newest = verdict if later is None else newest
        if verdict.name not in ("intact", "torn"):
            return verdict
        if later is not None and not continues(later, asked.chain):
            return Verdict(
                "corrupt", None, None, later.start, f"does not continue the journal in {root.name}"
            )
        later, named = asked.chain, named | asked.chain.named
    return newest


# --- the two doors --------------------------------------------------------------------------------


def verify(directory: Path, *, agent_id: str, key: bytes, witness: Path | None = None) -> Verdict:
    """Verify a v2 journal, or a v1 stream if the path is a file. Raises ValueError for a key that is none."""
    require(len(key) == 32 and len(set(key)) > 1, "a key is 32 bytes that are not all equal")
    if directory.is_file():
        return verify_v1(directory, agent_id=agent_id, key=key)
    return Verification(directory, agent_id=agent_id, key=key, witness=witness).verdict()


def main(arguments: list[str] | None = None) -> int:
    """Answer on the command line."""
    parser = argparse.ArgumentParser(description="Verify the journal of an agent.")
    about = "a v2 journal's directory, or a v1 stream; after a change of keys the directories, oldest first"
    parser.add_argument("directory", type=Path, nargs="+", help=about)
    parser.add_argument("--agent", required=True, help="the agent id")
    about = "the file of its master key; one for each directory, in their order"
    parser.add_argument("--key-file", required=True, type=Path, action="append", help=about)
    parser.add_argument("--witness", type=Path, help="the directory of witnesses")
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    given = parser.parse_args(arguments)
    try:
        keys = [read_key_file(path) for path in given.key_file]
        require(len(keys) == len(given.directory), "as many key files as directories are needed")
        about = {"agent_id": given.agent, "witness": given.witness}
        if len(keys) == 1:
            verdict = verify(given.directory[0], key=keys[0], **about)
        else:
            verdict = verify_rotated(given.directory, keys=keys, **about)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    place = "" if verdict.path is None else f" at {verdict.path}, byte {verdict.offset}, seq {verdict.seq}"
    print(json.dumps(asdict(verdict)) if given.json else f"{verdict.name}{place}: {verdict.reason}")
    return 0 if verdict.name == "intact" else 1


if __name__ == "__main__":
    sys.exit(main())
