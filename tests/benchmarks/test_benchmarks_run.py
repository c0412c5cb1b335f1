"""The benchmarks run, at a tiny size; what they measure is judged by people, never by a test."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

IN_PROCESSES = [pytest.param(name, marks=pytest.mark.process) for name in ("chain", "open", "recall")]
NAMES = ["capture", "durable", "turn", "stall", *IN_PROCESSES]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the benchmarks as their script does: next to it."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def module(name: str) -> ModuleType:
    return importlib.import_module(f"hippo_bench.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_measures_both_sides_and_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    result = module("runner").measure(name, module("scale").SMOKE, tmp_path)

    assert any(line.theirs is not None for line in result.lines)
    assert json.loads(json.dumps(result.as_dict()))["title"] == result.title
    assert list(tmp_path.iterdir()) == []


def test_every_benchmark_is_smoke_tested() -> None:
    tested = {name if isinstance(name, str) else name.values[0] for name in NAMES}
    assert tested == set(module("runner").BENCHMARKS)


async def test_sides_are_measured_in_turn_and_the_order_turns_round_by_round() -> None:
    seen: list[str] = []

    def side(name: str):
        async def one_round() -> float:
            seen.append(name)
            return float(len(seen))

        return one_round

    figures = await module("measure").interleave(3, a=side("a"), b=side("b"))

    assert seen == ["a", "b", "b", "a", "a", "b"]
    assert figures["a"].values == (1.0, 4.0, 5.0)
    assert figures["b"].values == (2.0, 3.0, 6.0)


def test_a_ratio_is_taken_round_by_round_so_that_drift_cancels() -> None:
    """The machine gets ten times slower in the last round: each ratio is 2, the ratio stays 2."""
    samples = module("measure").Samples
    assert samples((2.0, 4.0, 40.0)).per(samples((1.0, 2.0, 20.0))) == 2.0
    assert samples((2.0, 4.0, 40.0)).minus(samples((1.0, 2.0, 20.0))).median == 2.0


def test_a_wish_is_met_at_its_bound_and_missed_past_it() -> None:
    wanted = module("report").Wanted
    at_least, at_most = wanted(0.6, at_least=True), wanted(5.0, at_least=False)
    assert (at_least.met(0.6), at_least.met(0.59)) == (True, False)
    assert (at_most.met(5.0), at_most.met(5.01)) == (True, False)


def test_the_floor_rejects_a_line_that_was_changed(tmp_path: Path) -> None:
    """A floor that did not really compare would be no floor."""
    floor = module("floor")
    file = tmp_path / "lines"
    floor.append_durably(file, [floor.fillers([200, 300]), floor.fillers([90])])
    assert [len(line) for line in file.read_bytes().splitlines(keepends=True)] == [200, 300, 90]
    assert floor.verify(file) == 3

    changed = bytearray(file.read_bytes())
    changed[210] ^= 1
    file.write_bytes(changed)
    assert floor.verify(file) == 2


def test_messages_are_146_characters_and_differ() -> None:
    texts = [module("texts").message(number) for number in range(2_000)]
    assert {len(text) for text in texts} == {146}
    assert len(set(texts)) == len(texts)


def test_an_unknown_benchmark_is_named_and_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        module("runner").main(["sped"])
    assert "no benchmark 'sped'" in capsys.readouterr().err
