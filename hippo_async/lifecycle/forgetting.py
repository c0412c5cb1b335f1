"""Forgetting: hidden at once, erased when it is due, out of all that was made of it (L6, L11; design §9)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import anyio.to_thread

from hippo_async.errors import NotFound
from hippo_async.lives import Act, Operation
from hippo_async.lives.identity import CONTENT, KEY, KEY_PREFIX, SCOPE, content_hash
from hippo_async.lives.layers import SUBJECT, Subject, originals_of, refold_metadata, subject_of
from hippo_async.lives.states import Pending
from hippo_async.raw import Erasure
from hippo_async.records import Record, utc_timestamp

if TYPE_CHECKING:
    from hippo_async.engine import Engine
    from hippo_async.journal import Marker
    from hippo_async.lifecycle.pressing import Press

Operate = Callable[[Operation], Awaitable[None]]
"""Writes an operation; durable when it returns."""

Refold = Callable[[str, Record, Mapping[str, Any]], Awaitable[None]]
"""Writes a fold anew in place of another: its text, the one it replaces, what its metadata say."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: how many records that somebody asked for, and how many that were made of them."""

    records: int = 0
    derived: int = 0
    raw_lines: int = 0


async def forget(
    engine: Engine, record_id: str, *, scope: Sequence[str], now: datetime, grace: timedelta, operate: Operate
) -> Pending:
    """Hide a record from every search at once, to be erased after ``grace``; durable when it returns.

    One that is to be forgotten already stays due when it was. Raises :class:`NotFound` for no such record.
    """
    target = await find(engine, record_id, scope)
    known = await _pending(engine, target)
    if known is None:
        due = utc_timestamp(now + grace)
        await operate(Operation(Act.FORGOTTEN, target, due=due))
        known = await _pending(engine, target)
    if known is None:
        raise NotFound(f"record {target} is gone")
    return known


async def restore(engine: Engine, record_id: str, *, scope: Sequence[str], operate: Operate) -> bool:
    """Take back that a record is to be forgotten, or lift what keeps an erased one from coming again (L11).

    Returns whether its text is back. Waits while something is erased. Raises :class:`NotFound` for one that
    nobody asked to forget.
    """
    async with engine.erasing.turn():
        target = await _forgotten_id(engine, record_id)
        for known in await pending_in(engine, scope):
            if known.record_id == target:
                await operate(Operation(Act.RESTORED, target))
                return not known.erased
    raise NotFound(f"record {record_id} is not to be forgotten; there is nothing to restore")


async def pending_in(engine: Engine, scope: Sequence[str]) -> list[Pending]:
    """Return what of a scope is to be forgotten or was erased, the soonest due first."""
    await engine.flush()
    return await engine.lives.pending_in(scope, _scope_mark(scope, engine.marker))


async def ids_beginning(engine: Engine, digits: str, scope: Sequence[str]) -> list[str]:
    """Return the ids that begin so of what can be found in a scope, and of what :func:`pending_in` has."""
    await engine.flush()
    return await engine.lives.beginning(digits, scope, _scope_mark(scope, engine.marker))


async def find(engine: Engine, name: str, scope: Sequence[str], *, visible: bool = False) -> str:
    """Return the id of the record of this id or event id, which has its text, and is ``visible`` if wanted.

    Raises :class:`NotFound`, also for one in another scope.
    """
    target = await _any_id(engine, name)
    found = await engine.lives.standing(target)
    if found is None or found.scope != tuple(scope) or not (found.is_visible if visible else found.has_text):
        raise NotFound(f"there is no memory {name} here")
    return target


async def erase_due(
    engine: Engine, *, now: datetime, operate: Operate, refold: Refold, press: Press
) -> Erased:
    """Erase what is due: out of journal, index, raw box, and folds, which are made again without it.

    One call at a time; others wait for it. A crash anywhere leaves what the next call finishes. Raises what
    writing raises; nothing is half there for any reader.
    """
    async with engine.erasing.turn():
        await engine.flush()
        due = await _due(engine, by=utc_timestamp(now))
        if not due.doomed and not due.derived:
            return Erased()
        for fold in due.folds:
            await _make_again(engine, fold, refold, press)
        return await _erase(engine, due.doomed, due.derived, operate)


class _Due(NamedTuple):
    """Records that are to go: those that somebody asked to forget, and those that are made of them.

    The ``folds`` are those among the latter that are to be made again from what is left.
    """

    doomed: list[Record]
    derived: list[Record]
    folds: list[Record]


async def _due(engine: Engine, *, by: str) -> _Due:
    """What is due and has its text, with folds of it, and trends of nothing else.

    With them goes what a later memory of its subject took the place of: with that one gone, it would be the
    last. The index may think so of what an earlier call took out of the journal, if that broke off behind it.
    And folds of these go, too: what they were made of would not be known any more.
    """
    lives, library = engine.lives, engine.library
    doomed = await library.run(library.records_by_id, await lives.overdue(by=by))
    folds = set(await lives.made_of_overdue(by=by))
    derived = {*folds, *await lives.without_episodes(by=by)}
    replaced = await lives.superseded() if doomed or derived else []
    folds.update(await lives.folds_of(replaced))
    derived.update(folds, replaced)
    made = await library.run(library.records_by_seq, sorted(derived - {record.seq for record in doomed}))
    with_text = [record for record in made if not record.purged]
    again = folds.difference(replaced)
    return _Due(
        [record for record in doomed if not record.purged],
        with_text,
        [record for record in with_text if record.seq in again],
    )


async def _erase(
    engine: Engine, doomed: Sequence[Record], derived: Sequence[Record], operate: Operate
) -> Erased:
    library = engine.library
    for record in doomed:
        await operate(Operation(Act.ERASED, record.record_id, marks=_marks(record, engine.marker)))
    gone = [*doomed, *derived]
    lines = await anyio.to_thread.run_sync(
        engine.raw.erase, [_raw_erasure(record, engine) for record in gone]
    )
    await engine.flush()
    await library.run(library.erase, [record.record_id for record in gone])
    return Erased(len(doomed), len(derived), lines)


async def _make_again(engine: Engine, fold: Record, refold: Refold, press: Press) -> None:
    """Fold what is left of a fold's originals, unless nothing is."""
    library = engine.library
    originals = originals_of(fold)
    hidden = await engine.lives.unseen(originals)
    kept = await library.run(library.records_by_id, [name for name in originals if name not in hidden])
    left = [record for record in kept if not record.purged]
    if left:
        text = await press.text_of(left, subject_of(fold))
        await refold(text, fold, refold_metadata(fold, [record.record_id for record in left]))


def _marks(record: Record, marker: Marker) -> tuple[str, ...]:
    """What must not come again: the memory that said this, the turn that was captured under this key, one of
    this subject. And in which scope that was, which the record will not say any more.
    """
    marks = [_scope_mark(record.scope, marker)]
    identity, key = record.metadata.get("identity"), record.metadata.get("key")
    if subject := subject_of(record):
        marks.append(subject_mark(subject, record.scope, marker))
    if isinstance(identity, dict):
        marks.append(marker.mark(CONTENT, str(identity.get("content_hash"))))
    if isinstance(key, str):
        marks.append(marker.mark(KEY, key))
    return tuple(marks)


def subject_mark(subject: Subject, scope: Sequence[str], marker: Marker) -> str:
    """Return the mark of a subject of which somebody forgot the memory, and wants no other."""
    return marker.mark(SUBJECT, json.dumps(subject.key(scope)))


def _scope_mark(scope: Sequence[str], marker: Marker) -> str:
    return marker.mark(SCOPE, json.dumps(list(scope)))


def _raw_erasure(record: Record, engine: Engine) -> Erasure:
    turn_id, hashed = record.metadata.get("turn_id"), content_hash(record.text)
    return Erasure(str(turn_id), record.text, engine.marker.mark(CONTENT, hashed))


async def _pending(engine: Engine, record_id: str) -> Pending | None:
    await engine.flush()
    found = await engine.lives.pending([record_id])
    return found[0] if found else None


async def _any_id(engine: Engine, name: str) -> str:
    await engine.flush()
    return await engine.lives.by_event(name) or name


async def _forgotten_id(engine: Engine, name: str) -> str:
    """The id of a record by its id or event id, also of one that was erased and only left its mark."""
    known = await _any_id(engine, name)
    mark = engine.marker.mark(KEY, KEY_PREFIX + name)
    return (await engine.lives.bearing([mark])).get(mark, known) if known == name else known
