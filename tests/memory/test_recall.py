"""``recall`` whole (L1): its filters against a plain model, its budget, the turns around what it finds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hippo_async import Hippocampus, Kind, Recall, Settings
from hippo_async.errors import InvalidInput
from hippo_async.testing import FakeClock

MakeMemory = Callable[..., Hippocampus]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = ("harbour", "kettle", "шторм", "柏林")
SOME_SCOPES: tuple[tuple[str, ...], ...] = ((), ("ann",), ("ann", "work"), ("ben",))


@dataclass(frozen=True)
class Said:
    words: tuple[str, ...]
    tags: tuple[str, ...]
    kind: Kind
    role: str
    session: str | None
    scope: tuple[str, ...]
    hour: int

    @property
    def labels(self) -> dict[str, Any]:
        at = NOON + timedelta(hours=self.hour)
        return {**vars(self), "timestamp": at} | {"words": None, "hour": None}


def some(values: Any, most: int = 2) -> Any:
    return st.lists(st.sampled_from(values), max_size=most, unique=True).map(tuple)


RECORDS = st.lists(
    st.builds(
        Said,
        words=some(WORDS),
        tags=some(("a", "b", "c")),
        kind=st.sampled_from(Kind),
        role=st.sampled_from(("user", "assistant", "tool")),
        session=st.sampled_from((None, "monday", "friday")),
        scope=st.sampled_from(SOME_SCOPES),
        hour=st.integers(0, 5),
    ),
    max_size=20,
)
ASKED = st.fixed_dictionaries(
    {"scope": st.sampled_from(SOME_SCOPES)},
    optional={
        "tags": some(("a", "b", "c")),
        "kinds": some(tuple(Kind)),
        "roles": some(("user", "assistant", "tool")),
        "session": st.sampled_from(("monday", "friday")),
        "start": st.integers(-1, 6).map(lambda hour: NOON + timedelta(hours=hour)),
        "end": st.integers(-1, 6).map(lambda hour: NOON + timedelta(hours=hour)),
    },
)


def meets(said: Said, asked: dict[str, Any]) -> bool:
    at = NOON + timedelta(hours=said.hour)
    return (
        said.scope == asked["scope"]
        and set(asked.get("tags", ())) <= set(said.tags)
        and (not asked.get("kinds") or said.kind in asked["kinds"])
        and (not asked.get("roles") or said.role in asked["roles"])
        and asked.get("session", said.session) == said.session
        and asked.get("start", at) <= at
        and ("end" not in asked or at < asked["end"])
    )


@given(records=RECORDS, questions=st.lists(st.tuples(st.sampled_from(WORDS), ASKED), min_size=8, max_size=8))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
async def test_filters_never_let_out_what_they_exclude_nor_lose_what_they_include(
    tmp_path_factory: pytest.TempPathFactory, records: list[Said], questions: list[tuple[str, dict[str, Any]]]
) -> None:
    root = tmp_path_factory.mktemp("memory")
    async with Hippocampus(root / "store", embedder="none", witness=None) as memory:
        ids = {}
        for said in records:
            labels = {name: value for name, value in said.labels.items() if value is not None}
            receipt = memory.capture(" ".join(("note", *said.words)), **labels)
            ids[receipt.turn_id] = said
        for word, asked in questions:
            found = await memory.recall(word, top_k=100, **asked)
            turns = [record for hit in found for record in (hit.record, *hit.repeats)]
            got = {record.metadata["turn_id"] for record in turns}
            assert len(got) == len(turns), "each once"
            assert all(meets(ids[turn_id], asked) for turn_id in got)
            wanted = {turn_id for turn_id, said in ids.items() if word in said.words and meets(said, asked)}
            assert wanted <= got


def texts(found: Recall) -> list[str]:
    return [hit.record.text for hit in found]


def around(found: Recall) -> list[str]:
    return [record.text for record in found[0].around]


async def test_what_is_said_again_is_one_hit_that_knows_when(make_memory: MakeMemory) -> None:
    async with make_memory() as memory:
        for day in range(10):
            memory.capture("Hello, are you there?", timestamp=NOON + timedelta(days=day))
        memory.capture("Hello from the harbour.")
        found = await memory.recall("hello", top_k=2)
        [greeting] = [hit for hit in found if hit.repeats]
        assert len(found) == 2
        times = {record.at for record in (greeting.record, *greeting.repeats)}
        assert times == {NOON + timedelta(days=day) for day in range(10)}
        assert [same.seq for same in greeting.repeats] == sorted(same.seq for same in greeting.repeats)
        assert len(greeting.as_dict()["repeats"]) == 9


async def test_a_briefing_says_once_what_was_said_often_and_nothing_that_the_prompt_shows(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for number in range(3):
            memory.capture("The kettle is blue.", key=f"k{number}")
        await memory.flush()
        assert (await memory.brief("kettle", budget=400)).text.count("The kettle is blue.") >= 1
        found = await memory.recall("kettle")
        assert len(found) == 1 and len(found[0].repeats) == 2
        shown = await memory.brief("kettle", budget=400, exclude_keys=["k0", "k1", "k2"])
        assert "kettle" not in shown.text


async def test_the_budget_bounds_what_is_returned_and_a_note_says_what_is_missing(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for number in range(20):
            memory.capture(f"我们在柏林的第{number}次见面谈到了水壶和茶叶", session="s")
        whole = await memory.recall("柏林")
        for budget in (0, 10, 50, 100, 10_000):
            found = await memory.recall("柏林", max_tokens=budget, neighbours=1)
            spent = [text for hit in found for text in (hit.record.text, *(turn.text for turn in hit.around))]
            assert sum(map(memory.count_tokens, spent)) <= budget
            assert texts(found) == texts(whole)[: len(found)]
            assert any("budget" in note for note in found.notes) == (budget < 10_000)


async def test_the_budget_is_counted_by_the_memorys_own_counter_and_not_on_the_loop(
    make_memory: MakeMemory,
) -> None:
    threads: set[str] = set()

    def count(text: str) -> int:
        threads.add(threading.current_thread().name)
        return 10

    async with make_memory(token_counter=count) as memory:
        for number in range(5):
            memory.capture(f"kettle {number}")
        assert len(await memory.recall("kettle", max_tokens=30)) == 3
        assert threads == {"hippo-index"}


async def test_neighbours_are_the_turns_around_in_their_order_within_session_and_scope(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        for number in range(4):
            memory.capture(f"before {number}", session="s", scope=("ann",))
            memory.capture(f"elsewhere {number}", session="t", scope=("ann",))
            memory.capture(f"of ben {number}", session="s", scope=("ben",))
        memory.capture("the kettle is blue", session="s", scope=("ann",))
        memory.capture("a result", role="tool", session="s", scope=("ann",))
        memory.capture("after 0", role="assistant", session="s", scope=("ann",))
        memory.capture("of ben", session="s", scope=("ben",))
        found = await memory.recall("kettle blue", scope=("ann",), neighbours=2, top_k=1)
        assert around(found) == ["before 2", "before 3", "after 0"]
        assert around(await memory.recall("kettle blue", scope=("ann",), top_k=1)) == []
        wide = await memory.recall("kettle blue", scope=("ann",), neighbours=50, top_k=1)
        assert around(wide) == ["before 0", "before 1", "before 2", "before 3", "after 0"]
        found = await memory.recall("result", scope=("ann",), neighbours=1, roles=["tool"])
        assert around(found) == ["the kettle is blue", "after 0"], "a tool's result has turns around it, too"
        await memory.record("no session: kettle", tags=["alone"])
        assert around(await memory.recall("kettle", tags=["alone"], neighbours=3)) == []


async def test_what_speaks_for_a_hit_adds_up_to_its_score_without_being_asked_for(
    make_memory: MakeMemory,
) -> None:
    async with make_memory() as memory:
        memory.capture("the kettle is blue", session="s")
        [hit] = await memory.recall("kettle")
        assert hit.why and sum(hit.why.values()) == pytest.approx(hit.score)
        assert hit.as_dict()["why"] == dict(hit.why)


@pytest.mark.parametrize(
    "arguments", [{"max_tokens": -1}, {"neighbours": -1}, {"neighbours": 51}, {"mode": "deep"}]
)
async def test_what_cannot_be_asked_is_refused(make_memory: MakeMemory, arguments: dict[str, Any]) -> None:
    async with make_memory(settings=Settings()) as memory:
        with pytest.raises(InvalidInput, match=str(next(iter(arguments.values())))):
            await memory.recall("tea", **arguments)


async def test_how_fast_being_new_stops_counting_is_a_setting(make_memory: MakeMemory) -> None:
    clock = FakeClock(NOON + timedelta(days=30))
    gains = []
    for days in (7, 30, 365):
        decay = Settings.from_mapping({"decay": {"halfLifeDays": days}})
        async with make_memory(clock=clock, settings=decay) as memory:
            memory.capture("The kettle is blue.", timestamp=NOON, key="one turn")
            [hit] = await memory.recall("kettle")
            gains.append(hit.why.get("recency", 0.0))
    assert gains[0] < gains[1] == 0.0 < gains[2]
