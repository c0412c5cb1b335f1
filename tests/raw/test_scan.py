"""``deep_raw`` finds what was said, inside its window and its budgets (L5, L7, L8)."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.errors import InvalidInput
from hippo_async.files import Files
from hippo_async.raw.scan import RawScan, Sealed, Window, deep_raw
from hippo_async.raw.shards import RawShards
from hippo_async.raw.turn import RawTurn

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


NUMBERS = itertools.count()


async def store(root: Path, *contents: str, at: datetime = NOON, role: str = "user") -> list[RawTurn]:
    moments = [at + timedelta(seconds=n) for n in range(len(contents))]
    turns = [
        RawTurn(f"t{next(NUMBERS)}", moment, role, content)
        for moment, content in zip(moments, contents, strict=True)
    ]
    await asyncio.to_thread(RawShards(root, files=Files()).append, turns)
    return turns


def all_sealed(turns: Sequence[RawTurn]) -> dict[str, RawTurn]:
    return {turn.turn_id: turn for turn in turns}


async def scan(
    root: Path,
    query: str,
    *,
    count: Callable[[str], int] = len,
    sealed: Sealed = all_sealed,
    start: datetime = NOON - 3 * DAY,
    end: datetime = NOON + 3 * DAY,
    max_result_tokens: int = 20_000,
    max_scan_mb: int = 16,
) -> RawScan:
    return await deep_raw(
        root,
        query,
        window=Window.of(start, end),
        sealed=sealed,
        count_tokens=count,
        max_scan_mb=max_scan_mb,
        max_result_tokens=max_result_tokens,
    )


def snippets(found: RawScan) -> list[str]:
    return [hit.snippet for hit in found.hits]


@pytest.mark.parametrize(
    "window",
    [
        (None, NOON),
        (NOON, None),
        (NOON, NOON - DAY),
        (NOON, NOON),
        (NOON.replace(tzinfo=None), NOON + DAY),
        (NOON, (NOON + DAY).replace(tzinfo=None)),
    ],
)
def test_a_window_without_both_ends_in_order_is_refused(window: tuple[datetime | None, datetime | None]):
    with pytest.raises(InvalidInput) as raised:
        Window.of(*window)
    assert raised.value.code == "MEM_E_INVALID_INPUT"


async def test_a_store_without_a_black_box_finds_nothing(tmp_path: Path):
    assert await scan(tmp_path, "x") == RawScan(())


async def test_a_hit_has_its_address_and_what_was_said(tmp_path: Path):
    _, turn = await store(tmp_path, "first", "the code word is heron", role="assistant")
    (hit,) = (await scan(tmp_path, "heron")).hits
    assert (hit.day, hit.line, hit.turn_id, hit.role) == ("2026-03-01", 2, turn.turn_id, "assistant")
    assert hit.timestamp == "2026-03-01T12:00:01.000000Z"
    assert hit.snippet == "the code word is heron"
    assert str(hit) == "2026-03-01:2 assistant: the code word is heron"


async def test_all_words_have_to_be_there_in_any_order_and_case(tmp_path: Path):
    await store(
        tmp_path, "The HERON flew over Berlin", "a heron", "Berlin", "В БЕРЛИНЕ весна", "我们在柏林见面"
    )
    assert snippets(await scan(tmp_path, "berlin heron")) == ["The HERON flew over Berlin"]
    assert snippets(await scan(tmp_path, "берлин")) == ["В БЕРЛИНЕ весна"]
    assert snippets(await scan(tmp_path, "柏林")) == ["我们在柏林见面"]


async def test_words_are_plain_text_and_no_pattern(tmp_path: Path):
    await store(tmp_path, "a.c", "abc", "100% \\d")
    assert snippets(await scan(tmp_path, "a.c")) == ["a.c"]
    assert snippets(await scan(tmp_path, "\\d 100%")) == ["100% \\d"]


async def test_an_empty_query_takes_all_of_the_window(tmp_path: Path):
    await store(tmp_path, "one", "two")
    assert snippets(await scan(tmp_path, " ")) == ["one", "two"]


async def test_only_the_window_is_found_from_its_start_up_to_its_end(tmp_path: Path):
    for days in range(-4, 5):
        await store(tmp_path, f"day {days}", at=NOON + days * DAY)
    found = await scan(tmp_path, "day", start=NOON - DAY, end=NOON + DAY)
    assert snippets(found) == ["day -1", "day 0"]


async def test_a_turn_that_the_journal_does_not_show_is_not_shown_and_not_told_of(tmp_path: Path):
    mine, _ = await store(tmp_path, "my secret", "her secret")
    found = await scan(tmp_path, "secret", sealed=lambda _: {mine.turn_id: mine})
    assert snippets(found) == ["my secret"]
    assert found.notes == ()


@pytest.mark.parametrize("change", [{"content": "tea for two"}, {"role": "assistant"}])
async def test_a_line_that_is_not_what_was_sealed_is_left_out_and_counted(tmp_path: Path, change):
    (turn,) = await store(tmp_path, "tea for ten")
    found = await scan(tmp_path, "tea", sealed=lambda _: {turn.turn_id: replace(turn, **change)})
    assert found.hits == ()
    assert found.notes == ("1 raw lines do not say what the journal sealed; they were left out",)


async def test_neither_reading_nor_counting_is_done_on_the_loop(tmp_path: Path):
    threads: set[int] = set()

    def count(text: str) -> int:
        threads.add(threading.get_ident())
        return len(text)

    await store(tmp_path, "one", "two")
    await scan(tmp_path, "", count=count)
    assert threads and threading.get_ident() not in threads


async def test_the_window_is_compared_in_utc(tmp_path: Path):
    await store(tmp_path, "late", at=datetime(2026, 3, 1, 23, 0, tzinfo=UTC))
    east = timezone(timedelta(hours=9))
    window = {
        "start": datetime(2026, 3, 2, 7, 0, tzinfo=east),
        "end": datetime(2026, 3, 2, 9, 0, tzinfo=east),
    }
    assert snippets(await scan(tmp_path, "late", **window)) == ["late"]


async def test_shards_outside_the_window_are_not_read(tmp_path: Path):
    await store(tmp_path, "in")
    (tmp_path / "raw" / "2026-01-01.jsonl").mkdir()
    assert snippets(await scan(tmp_path, "in")) == ["in"]


async def test_damaged_lines_are_skipped_counted_and_keep_their_numbers(tmp_path: Path):
    await store(tmp_path, "before")
    path = tmp_path / "raw" / "2026-03-01.jsonl"
    path.write_bytes(path.read_bytes() + b'{"turn_id": "t\n\xff\xff\n')
    await store(tmp_path, "after")
    found = await scan(tmp_path, "")
    assert [(hit.line, hit.snippet) for hit in found.hits] == [(1, "before"), (4, "after")]
    assert found.notes == ("2 damaged raw lines were skipped",)


async def test_a_last_line_without_its_newline_is_read(tmp_path: Path):
    await store(tmp_path, "one", "two")
    path = tmp_path / "raw" / "2026-03-01.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    found = await scan(tmp_path, "")
    assert [(hit.line, hit.snippet) for hit in found.hits] == [(1, "one"), (2, "two")]
    assert found.notes == ()


async def test_other_line_breaks_than_newline_belong_to_the_text(tmp_path: Path):
    await store(tmp_path, "a\u2028b\x85c\rd\ne", "next")
    found = await scan(tmp_path, "")
    assert [(hit.line, hit.snippet) for hit in found.hits] == [(1, "a\u2028b\x85c\rd\ne"), (2, "next")]


async def test_lines_that_span_many_chunks_are_found_whole(tmp_path: Path):
    await store(tmp_path, "short", "x y " * 50_000 + "needle", "last")
    found = await scan(tmp_path, "needle")
    assert [hit.line for hit in found.hits] == [2]
    assert found.hits[0].snippet.endswith("needle")
    assert [hit.line for hit in (await scan(tmp_path, "last")).hits] == [3]


async def test_secrets_leave_as_redacted_though_they_can_be_looked_for(tmp_path: Path):
    secret = "sk-abcdEFGH1234ijklMNOP5678"
    await store(tmp_path, f"my key is {secret}, keep it")
    assert snippets(await scan(tmp_path, secret)) == ["my key is [redacted], keep it"]


async def test_a_cut_snippet_shows_no_half_of_a_secret(tmp_path: Path):
    secret = "sk-" + "abcdEFGH1234" * 8
    for padding in range(0, 400, 7):
        await store(tmp_path, "w " * padding + "needle " + secret + " w" * 400, at=NOON)
    found = await scan(tmp_path, "needle", max_result_tokens=1_000_000)
    assert len(found.hits) == 58
    assert not any("abcdEFGH" in snippet for snippet in snippets(found))


async def test_a_snippet_shows_the_word_in_a_long_text(tmp_path: Path):
    await store(tmp_path, "lead " * 300 + "needle" + " tail" * 300)
    (snippet,) = snippets(await scan(tmp_path, "needle"))
    assert "needle" in snippet
    assert snippet.startswith("…") and snippet.endswith("…")
    assert len(snippet) <= 402


async def test_over_the_budget_the_result_is_cut_and_the_last_note_says_so(tmp_path: Path):
    await store(tmp_path, *(f"note {n}" for n in range(50)))
    one = len("2026-03-01:1 user: note 0")
    found = await scan(tmp_path, "note", max_result_tokens=3 * one)
    assert snippets(found) == ["note 0", "note 1", "note 2"]
    assert found.notes[-1] == f"some raw records were cut to keep to the budget of {3 * one} tokens"


async def test_within_the_budget_nothing_is_said_of_a_cut(tmp_path: Path):
    await store(tmp_path, "note")
    assert (await scan(tmp_path, "note")).notes == ()


async def test_the_smallest_budget_still_shows_something(tmp_path: Path):
    await store(tmp_path, "我们决定在三月一日把数据库迁移到新的服务器上" * 30)
    found = await scan(tmp_path, "数据库", max_result_tokens=50, count=lambda text: len(text) * 6 // 5)
    assert len(found.hits) == 1
    assert "数据库" in found.hits[0].snippet


async def test_the_scan_stops_at_its_limit_and_says_where(tmp_path: Path):
    await store(tmp_path, *["w " * 16_000] * 20, "early")
    await store(tmp_path, *["w " * 16_000] * 20, "late", at=NOON + DAY)
    found = await scan(tmp_path, "", max_scan_mb=1, max_result_tokens=1_000_000)
    assert {hit.day for hit in found.hits} == {"2026-03-01", "2026-03-02"}
    assert "early" in snippets(found) and "late" not in snippets(found)
    assert found.notes == ("the scan stopped in 2026-03-02 after 1 MB; narrow the time window",)


async def test_a_scan_that_ends_just_at_its_limit_left_nothing_out(tmp_path: Path):
    await store(tmp_path, "one")
    path = tmp_path / "raw" / "2026-03-01.jsonl"
    path.write_bytes(path.read_bytes() + b" " * (1024 * 1024 - path.stat().st_size - 1) + b"\n")
    found = await scan(tmp_path, "one", max_scan_mb=1)
    assert found.notes == ("1 damaged raw lines were skipped",)


@given(budget=st.integers(50, 2000), contents=st.lists(st.text(max_size=300), min_size=1, max_size=20))
async def test_the_budget_is_a_hard_bound(tmp_path_factory, budget: int, contents: list[str]):
    root = tmp_path_factory.mktemp("raw")
    await store(root, *contents)
    found = await scan(root, "", max_result_tokens=budget)
    assert sum(len(str(hit)) for hit in found.hits) <= budget
    assert (len(found.hits) == len(contents)) == (found.notes == ())
