"""What the memory tools answer, in words that a model can act on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import ValidationError

from hippo_async import Recall, Record, Status
from hippo_async.context import clip
from hippo_async.errors import Forgotten, HippoError, InvalidInput, NotFound
from hippo_async.lifecycle.maintenance import MaintenanceReport
from hippo_async.lifecycle.remembering import Remembered
from hippo_async.lives.states import MemoryState, Pending, Task
from hippo_async.naming import short
from hippo_async.records import Hit, RawHit

HIT_CHARS = 600


def remembered(made: Remembered) -> str:
    """Say under which id something is remembered, and whether it was before."""
    name = f"[{short(made.record.record_id)}]"
    return f"Remembered as {name}." if made.is_new else f"Known as {name}, remembered {made.count} times."


def told(found: Recall, limit: int, *, with_ids: bool) -> list[str]:
    """Write the best hits: not the question itself, and folds behind their originals."""
    hits = [hit for hit in found if hit.record.text.strip() != found.query.strip()]
    hits.sort(key=lambda hit: hit.record.is_fold)
    if not hits:
        return ["Nothing is remembered about that. Try other words, or fewer tags, or other dates."]
    return [*(_hit_line(hit, with_id=with_ids) for hit in hits[:limit]), *found.notes]


def quoted(found: Recall, limit: int) -> list[str]:
    """Write the oldest quotes."""
    if not found.raw:
        return ["Nothing was said in those words then. Use fewer words.", *found.notes]
    return [*map(_quote_line, found.raw[:limit]), *found.notes]


def fitting(lines: Sequence[str], most: int, count: Callable[[str], int]) -> str:
    """Return the lines that fit into so many tokens; of the first, if need be, the beginning."""
    kept: list[str] = []
    for line in lines:
        if count("\n".join([*kept, line])) > most:
            break
        kept.append(line)
    return "\n".join(kept) or clip(lines[0], most, count)


def derived(record: Record) -> str:
    """Write a memory that was made of others."""
    return f"- [{short(record.record_id)}] {record.timestamp[:10]}: {shortened(record.text)}"


def confirmed(state: MemoryState) -> str:
    """Say how a memory stands that was confirmed just now."""
    review = "no further review" if state.due is None else f"next review {state.due[:10]}"
    return f"Confirmed [{short(state.record_id)}], {_times(state.confirmed)} by now; {review}."


def hidden(pending: Pending) -> str:
    """Say what becomes of a memory that was asked to be forgotten."""
    return (
        f"Forgotten: [{short(pending.record_id)}] is found no more, and its text is erased for good from "
        f"{_minute(pending.due)} UTC on. Others that say the same stay: recall again to see them."
    )


def restored(record_id: str, *, is_back: bool) -> str:
    """Say what became of a memory whose forgetting was taken back."""
    name = f"[{short(record_id)}]"
    if is_back:
        return f"Restored: {name} is found again."
    return f"The text of {name} was erased and is not back; it may be remembered anew now."


def in_progress(task: Task | None, said: str = "") -> str:
    """Say which task is in progress, and what was said of it."""
    if task is None:
        return "No task is in progress."
    state = f"In progress: {task.task_id}, {task.progress} % done as of {_minute(task.updated)} UTC."
    return f"{state} {shortened(said)}".rstrip()


def tags_in_use(tags: Sequence[tuple[str, int]]) -> str:
    """List tags with the number of their memories."""
    return ", ".join(f"{tag} ({count})" for tag, count in tags) or "No tag is in use."


def to_review(record: Record, state: MemoryState) -> str:
    """Write a memory whose review is due."""
    return f"- [{short(state.record_id)}] {record.timestamp[:10]}: {shortened(record.text)}"


def to_delete(pending: Pending) -> str:
    """Write what is to be forgotten. What it says is not told: it is hidden."""
    state = "erased" if pending.erased else f"hidden, erased from {_minute(pending.due)} UTC on"
    return f"- [{short(pending.record_id)}] {state}"


def working(status: Status) -> str:
    """Say how a memory is. No counts: they would tell of what is in other scopes."""
    ways = "by words and meaning" if status.embedder else "by words"
    if status.retrying:
        return (
            f"Memories are found {ways}, but the disk fails, and what is new is not safe: {status.last_error}"
        )
    return f"The memory works: it is written to disk, and memories are found {ways}."


def maintained(report: MaintenanceReport) -> str:
    """Say how many steps of a round were done. Not what they did: a round goes over all scopes."""
    failed = len(report.failed)
    said = f"Maintenance: {len(report.steps) - failed} steps done, {failed} failed."
    return f"{said} The next round tries those again." if failed else said


def not_done(what: str, error: HippoError | OSError) -> str:
    """Say that something could not be done, why, and what to do now."""
    code = error.code if isinstance(error, HippoError) else "MEM_E_OS"
    return f"Not {what}: {error} ({code}). {_advice(what, error)}"


def not_understood(error: ValidationError) -> str:
    """Say which arguments of a call cannot be."""
    faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
    return f"Not done: {faults} ({InvalidInput.code}). Call it again with that mended."


def shortened(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= HIT_CHARS else line[: HIT_CHARS - 1] + "…"


def _advice(what: str, error: HippoError | OSError) -> str:
    if isinstance(error, InvalidInput):
        return "Call it again with that mended."
    if isinstance(error, Forgotten):
        return "Leave it so, unless the user wants it back."
    if isinstance(error, NotFound):
        return "Take the id from what was recalled or listed here, and do not guess one."
    return f"Go on without it, and do not claim that it was {what}."


def _hit_line(hit: Hit, *, with_id: bool) -> str:
    record = hit.record
    said = [said for said in (record.role, _again(hit)) if said]
    by = f" ({', '.join(said)})" if said else ""
    name = f"[{short(record.record_id)}] " if with_id else ""
    return f"- {name}{record.timestamp[:10]}{by}: {shortened(record.text)}"


def _again(hit: Hit) -> str | None:
    return f"again on {hit.repeats[-1].timestamp[:10]}" if hit.repeats else None


def _quote_line(hit: RawHit) -> str:
    return f"- {hit.timestamp[:16]} ({hit.role}): {shortened(hit.snippet)}"


def _minute(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
