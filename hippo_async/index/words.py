"""Searching by words: BM25 over the terms of each record and of the turn before it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from hippo_async.index.filters import condition
from hippo_async.records import Filters

CONTEXT_WEIGHT = 0.5
"""What a term of the turn before counts, against 1 for a record's own. On LoCoMo (5 conversations, words and
neighbours, recall@10) .5 gave .744, 0 .678, 1 .734."""

MOST_TERMS = 64
"""A query of more terms is cut: the time of a search grows with their number, faster than in proportion."""


def search(
    db: sqlite3.Connection, terms: Sequence[str], *, filters: Filters, limit: int
) -> list[tuple[int, float]]:
    """Return up to ``limit`` pairs of seq and BM25 score of records with any of the terms.

    Higher scores are better and come first, newer records first among equals. No terms, no pairs.
    """
    wanted = chosen(terms)
    if not wanted:
        return []
    where, values = condition(filters)
    query = "\n".join(
        (
            "SELECT r.seq, -bm25(words, 1.0, :context_weight) AS score",
            "FROM words CROSS JOIN records AS r ON r.seq = words.rowid",  # CROSS: the words lead
            "WHERE words MATCH :match AND",
            where,
            "ORDER BY score DESC, r.seq DESC LIMIT :limit",
        )
    )
    values |= {"match": match_expression(wanted), "context_weight": CONTEXT_WEIGHT, "limit": limit}
    return db.execute(query, values).fetchall()


def chosen(terms: Sequence[str]) -> list[str]:
    """Return the terms without repeats; of too many the longest, which are the rarest on the whole."""
    unique = list(dict.fromkeys(terms))
    if len(unique) <= MOST_TERMS:
        return unique
    return sorted(unique, key=len, reverse=True)[:MOST_TERMS]


def match_expression(terms: Sequence[str]) -> str:
    """Write terms as quoted strings joined by OR, so that nothing in them is an operator of FTS5."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
