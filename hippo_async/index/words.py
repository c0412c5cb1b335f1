"""Searching by words: BM25 over the terms of each record and of the turn before it.

SQLite goes through matches in a tenth of a microsecond each, and scores one in one to three microseconds: to
score all that has any of the words takes a second at a million records. So where many match, the weights of
the words alone say which may be among the best, in numpy, and SQLite scores only these.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hippo_async.index.filters import condition
from hippo_async.index.held import Held
from hippo_async.index.lookup import allowed
from hippo_async.index.projection import position_of
from hippo_async.index.seqs import Seqs
from hippo_async.records import Filters
from hippo_async.workers import step_aside

CONTEXT_WEIGHT = 0.5
"""What a term of the turn before counts, against 1 for a record's own. On LoCoMo (5 conversations, words and
neighbours, recall@10) .5 gave .744, 0 .678, 1 .734."""

MOST_TERMS = 64
"""A query of more terms is cut: the time of a search grows with their number, faster than in proportion."""

SCORED = 2_000
"""Up to so many matches, added up over the terms, are all scored."""

CANDIDATES = 1_000
"""How many are scored where there are more."""

COUNTED = 50_000
"""How many matches of terms SQLite goes through to score candidates. Of terms that are too common for that it
counts only whether a record has them."""

Pairs = list[tuple[int, float]]
Postings = Mapping[str, Seqs]
"""Which records have each term, the rarest term first."""


def search(
    db: sqlite3.Connection, terms: Sequence[str], *, filters: Filters, limit: int, held: Held
) -> Pairs:
    """Return up to ``limit`` pairs of seq and BM25 score of records with any of the terms.

    Higher scores are better and come first, newer records first among equals. No terms, no pairs.
    """
    found = {term: held.matching(db, match_expression([term])) for term in chosen(terms)}
    postings = {term: found[term] for term in sorted(found, key=lambda term: (len(found[term]), term))}
    if sum(map(len, postings.values())) <= SCORED:
        return _scored(db, list(postings), filters=filters, limit=limit)
    return _scored_best(db, postings, visible=allowed(db, filters, held=held), limit=limit)


def full_match(db: sqlite3.Connection, terms: Sequence[str], *, held: Held) -> float:
    """Return the score of a record of usual length that has each of the terms once.

    A term that no record has counts as the rarest would.
    """
    records = _records(db)
    return sum(_weight(records, len(held.matching(db, match_expression([term])))) for term in chosen(terms))


def chosen(terms: Sequence[str]) -> list[str]:
    """Return the terms without repeats; of too many the longest, which are the rarest on the whole."""
    unique = list(dict.fromkeys(terms))
    if len(unique) <= MOST_TERMS:
        return unique
    return sorted(unique, key=len, reverse=True)[:MOST_TERMS]


def match_expression(terms: Sequence[str]) -> str:
    """Write terms as quoted strings joined by OR, so that nothing in them is an operator of FTS5."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _scored(db: sqlite3.Connection, terms: Sequence[str], *, filters: Filters, limit: int) -> Pairs:
    """Let SQLite score all that has any of the terms."""
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
    values |= {"match": match_expression(terms), "context_weight": CONTEXT_WEIGHT, "limit": limit}
    return db.execute(query, values).fetchall() if terms else []


def _scored_best(db: sqlite3.Connection, postings: Postings, *, visible: Seqs, limit: int) -> Pairs:
    """Let SQLite score the candidates by all but the most common terms, and add what those weigh."""
    records = _records(db)
    weighed = max(1, sum(total <= COUNTED for total in accumulate(map(len, postings.values()))))
    terms = list(postings)
    common = _weights(records, [postings[term] for term in terms[weighed:]])
    weights = common + _weights(records, [postings[term] for term in terms[:weighed]])
    step_aside()
    candidates = _heaviest(weights, visible)
    step_aside()
    scores = dict.fromkeys(candidates, 0.0) | dict(_scores(db, terms[:weighed], candidates))
    step_aside()
    ranked = sorted(((score + float(common[seq]), seq) for seq, score in scores.items()), reverse=True)
    return [(seq, score) for score, seq in ranked[:limit]]


def _records(db: sqlite3.Connection) -> int:
    return position_of(db).seq + 1


def _weight(records: int, having: int) -> float:
    """Return what having a term is worth: its part in the BM25 of SQLite, at the usual length."""
    return max(math.log((records - having + 0.5) / (having + 0.5)), 1e-6)


def _weights(records: int, postings: Sequence[Seqs]) -> NDArray[np.float32]:
    """Return, by seq, the weights of the terms that each record has, added up."""
    weights = np.zeros(records, dtype=np.float32)
    for seqs in postings:
        weights[seqs] += _weight(records, len(seqs))
    return weights


def _heaviest(weights: NDArray[np.float32], visible: Seqs) -> list[int]:
    """Return the seqs of the candidates: the heaviest of those visible, of equals the newest."""
    seqs = visible[weights[visible] > 0]
    if len(seqs) > CANDIDATES:
        heaviness = weights[seqs]
        least = np.partition(heaviness, -CANDIDATES)[-CANDIDATES]
        heavier, equal = seqs[heaviness > least], seqs[heaviness == least]
        seqs = np.concatenate((heavier, equal[len(heavier) - CANDIDATES :]))
    return [int(seq) for seq in seqs]


def _scores(db: sqlite3.Connection, terms: Sequence[str], candidates: Sequence[int]) -> Pairs:
    query = (
        "SELECT rowid, -bm25(words, 1.0, :context_weight) FROM words WHERE words MATCH :match"
        # the plus: else SQLite would start the search anew for every candidate
        " AND +rowid IN (SELECT value FROM json_each(:candidates))"
        " ORDER BY 2"  # see lookup.traits
    )
    values = {
        "match": match_expression(terms),
        "context_weight": CONTEXT_WEIGHT,
        "candidates": json.dumps(candidates),
    }
    return db.execute(query, values).fetchall()
