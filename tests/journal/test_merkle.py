"""The Merkle tree: the RFC's own shape and hashes, and no proof but the right one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.journal.merkle import audit_path, includes, merkle_root

# The leaves and roots that implementations of Certificate Transparency check each other with.
KNOWN_LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", bytes(range(96, 112)).hex())
]
KNOWN_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

lists = st.lists(st.binary(max_size=20), max_size=40, unique=True)
filled = st.lists(st.binary(max_size=20), min_size=1, max_size=40, unique=True)


def split(size: int) -> int:
    """The largest power of two below ``size``."""
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def reference_root(leaves: Sequence[bytes]) -> bytes:
    """The tree hash as RFC 6962 §2.1 defines it, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    half = split(len(leaves))
    return hashlib.sha256(b"\x01" + reference_root(leaves[:half]) + reference_root(leaves[half:])).digest()


def reference_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path as RFC 6962 §2.1.1 defines it."""
    if len(leaves) == 1:
        return ()
    half = split(len(leaves))
    if index < half:
        return (*reference_path(leaves[:half], index), reference_root(leaves[half:]))
    return (*reference_path(leaves[half:], index - half), reference_root(leaves[:half]))


@pytest.mark.parametrize("size", range(9))
def test_the_known_leaves_have_the_known_roots(size: int) -> None:
    assert merkle_root(KNOWN_LEAVES[:size]).hex() == KNOWN_ROOTS[size]


@given(lists)
def test_root_and_paths_are_those_of_the_recursive_definition(leaves: list[bytes]) -> None:
    assert merkle_root(leaves) == reference_root(leaves)
    for index in range(len(leaves)):
        assert audit_path(leaves, index) == reference_path(leaves, index)


@given(filled)
def test_every_leaf_is_proved_by_its_path(leaves: list[bytes]) -> None:
    root = merkle_root(leaves)
    for index, leaf in enumerate(leaves):
        path = audit_path(leaves, index)
        assert includes(root, leaf, index=index, size=len(leaves), path=path)
        assert len(path) <= (len(leaves) - 1).bit_length()


@given(filled, st.data())
def test_no_other_index_is_proved(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    root, path = merkle_root(leaves), audit_path(leaves, index)
    for other in {*range(-2, len(leaves) + 3), index ^ 2, -1 - index, len(leaves) + index} - {index}:
        assert not includes(root, leaves[index], index=other, size=len(leaves), path=path)


@given(filled, st.data())
def test_a_doubled_or_halved_size_is_refused(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    root, path = merkle_root(leaves), audit_path(leaves, index)
    for size in (len(leaves) * 2, len(leaves) // 2, 0, -len(leaves)):
        assert not includes(root, leaves[index], index=index, size=size, path=path)


def test_a_size_of_the_same_shape_is_not_told_apart_by_the_root_alone() -> None:
    """Why the anchor's hash covers the count beside the root."""
    path = audit_path(KNOWN_LEAVES[:5], 0)
    taken = [
        size
        for size in range(1, 20)
        if includes(merkle_root(KNOWN_LEAVES[:5]), KNOWN_LEAVES[0], index=0, size=size, path=path)
    ]
    assert taken == [5, 6, 7, 8]


@given(filled, st.data())
def test_every_changed_path_leaf_or_root_is_refused(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    root, leaf, path = merkle_root(leaves), leaves[index], list(audit_path(leaves, index))

    def holds(*, root: bytes = root, leaf: bytes = leaf, path: Sequence[bytes] = path) -> bool:
        return includes(root, leaf, index=index, size=len(leaves), path=path)

    assert holds()
    others = [[root, *path], [*path, root], [b"", *path], [*path, b""], [*path, *path, root]]
    others += [path[1:], path[:-1]] if path else []
    others += [[*path[:at], flipped(path[at], data), *path[at + 1 :]] for at in range(len(path))]
    others += [[*path[:at], path[at][:-1], *path[at + 1 :]] for at in range(len(path))]
    others += [path[::-1]] if path != path[::-1] else []
    assert not any(holds(path=other) for other in others)
    assert not any(holds(root=other) for other in (b"", root[:-1], root + b"\0", flipped(root, data)))
    assert not any(holds(leaf=other) for other in (leaf + b"\0", b"\0" + leaf, root))


@given(filled.filter(lambda leaves: len(leaves) > 1))
def test_an_inner_node_does_not_pass_as_a_leaf(leaves: list[bytes]) -> None:
    """What the prefixes are for: the two halves of the tree, joined, are not a tree of one leaf."""
    half = split(len(leaves))
    joined = merkle_root(leaves[:half]) + merkle_root(leaves[half:])
    assert not includes(merkle_root(leaves), joined, index=0, size=1, path=[])


@pytest.mark.parametrize("index", [-1, 8])
def test_a_leaf_that_is_not_there_has_no_path(index: int) -> None:
    with pytest.raises(IndexError):
        audit_path(KNOWN_LEAVES, index)


def flipped(value: bytes, data: st.DataObject) -> bytes:
    """``value`` with one bit turned."""
    bit = data.draw(st.integers(0, len(value) * 8 - 1))
    return (int.from_bytes(value) ^ (1 << bit)).to_bytes(len(value))
