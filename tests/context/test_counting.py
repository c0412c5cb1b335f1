"""Counting the same text once."""

from __future__ import annotations

from hippo_async.context import RememberedCounts


def test_an_equal_text_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    remembered = RememberedCounts(count)
    assert [remembered("tea"), remembered("milk"), remembered("tea")] == [3, 4, 3]
    assert counted == ["tea", "milk"]
