"""The Merkle tree of RFC 6962 §2.1: one hash over a list, and short proofs that an entry is in it. Pure.

The RFC splits a list at the largest power of two below its length. Pairing neighbours level by level, and
carrying an odd last node up as it is, makes the same tree; that is how it is done here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

LEAF = b"\x00"
NODE = b"\x01"


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the tree's hash, 32 bytes; that of no leaves is SHA-256 of nothing (J11)."""
    root = hashlib.sha256(b"").digest()
    for level in _levels(leaves):
        root = level[0]
    return root


def audit_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the hashes that lead from leaf ``index`` to the root, the leaf's sibling first.

    Raises ``IndexError`` if there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(f"leaf {index} of {len(leaves)}")
    siblings = ((level, (index >> height) ^ 1) for height, level in enumerate(_levels(leaves)))
    return tuple(level[sibling] for level, sibling in siblings if sibling < len(level))


def includes(root: bytes, leaf: bytes, *, index: int, size: int, path: Sequence[bytes]) -> bool:
    """Whether ``path`` leads from ``leaf``, at ``index`` of ``size`` leaves, to ``root``, and ends there.

    Another leaf, index, root or path does not. Another ``size`` need not change the path of an early leaf
    (leaf 0 has the same one among 5 leaves and among 6), so whoever publishes a root publishes its size too.
    """
    if not 0 <= index < size:
        return False
    node, rest, last = _leaf_hash(leaf), iter(path), size - 1
    while last:
        sibling = index ^ 1
        if sibling <= last:
            other = next(rest, None)
            if other is None:
                return False
            node = _node_hash(other, node) if index & 1 else _node_hash(node, other)
        index, last = index >> 1, last >> 1
    return node == root and next(rest, None) is None


def _levels(leaves: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield the hashes of each level, from the leaves to the root; none for no leaves."""
    level = [_leaf_hash(leaf) for leaf in leaves]
    while len(level) > 1:
        yield level
        pairs = zip(level[::2], level[1::2], strict=False)
        odd = level[-1:] if len(level) % 2 else []
        level = [_node_hash(left, right) for left, right in pairs] + odd
    if level:
        yield level


def _leaf_hash(leaf: bytes) -> bytes:
    return hashlib.sha256(LEAF + leaf).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(NODE + left + right).digest()
