"""All ways to a memory's texts: what each of its doors shows, and what its files hold."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from hippo_async import Hippocampus
from hippo_async.testing import FakeClock

LONG_AGO = timedelta(days=400)


async def shown(memory: Hippocampus, query: str, *, clock: FakeClock, scope: tuple[str, ...] = ()) -> str:
    """Return all that any door shows of what a query is about, and of what is newest, in one text."""
    start, end = clock.now() - LONG_AGO, clock.now() + LONG_AGO
    hits = await memory.recall(query, scope=scope, neighbours=2, top_k=50)
    texts = [record.text for hit in hits for record in (hit.record, *hit.repeats, *hit.around)]
    newest = await memory.latest(n=1000, scope=scope)
    texts += [record.text for record in newest]
    for session in {record.session for record in newest} - {None}:
        texts += [record.text for record in await memory.session(str(session), scope=scope)]
    texts += [one.text for one in await memory.selective_load(10_000, include_routine=True, scope=scope)]
    texts += [hit.record.text for hit in await memory.pattern_completion(query, 50, scope=scope)]
    texts.append((await memory.brief(query, scope=scope)).text)
    raw = await memory.recall(query, scope=scope, mode="deep_raw", start=start, end=end)
    texts += [hit.snippet for hit in raw.raw]
    texts += [record.text async for record in memory.records()]
    texts += [tag for tag, _ in await memory.active_tags(scope=scope)]
    texts += [hit.record.text for hit in await memory.active_set(scope=scope)]
    texts += [record.text for record in await memory.semantic(scope=scope)]
    texts += [trend.text for trend in await memory.trends(scope=scope)]
    texts += [node.tag for node in (await memory.tag_graph(scope=scope)).nodes]
    texts += [
        day.text
        for day in await memory.diary(
            (clock.now() - timedelta(days=90)).date(), clock.now().date(), scope=scope
        )
    ]
    texts.append(str(await memory.active_task(scope=scope)))
    return "\n".join(texts)


def holding(folder: Path, *texts: str) -> list[str]:
    """Return the files below a folder in which one of the texts stands, in any case."""
    wanted = [text.lower().encode() for text in texts]
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(text in path.read_bytes().lower() for text in wanted)
    ]
