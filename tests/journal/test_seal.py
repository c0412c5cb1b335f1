"""Keys, seals and what keeps them apart and out of sight (J4, J5)."""

from __future__ import annotations

import copy
import hashlib
import hmac
import os
import pickle
import stat
import traceback
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_async.errors import KeyFileError
from hippo_async.files import Files
from hippo_async.journal import Key, make_key, read_key
from hippo_async.journal.scan import Chain, ChainBroken, walk
from hippo_async.journal.seal import DOMAIN_V1, DOMAIN_V2, Purpose, Sealer, derive_key, hkdf_sha256

if TYPE_CHECKING:
    from conftest import Store

SECRET = hashlib.sha256(b"a secret for these tests").digest()


def octets(first: int, last: int) -> bytes:
    return bytes(range(first, last + 1))


@pytest.mark.parametrize(
    ("secret", "salt", "info", "okm"),
    [
        (
            b"\x0b" * 22,
            octets(0x00, 0x0C),
            octets(0xF0, 0xF9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
        (
            octets(0x00, 0x4F),
            octets(0x60, 0xAF),
            octets(0xB0, 0xFF),
            (
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c6"
                "5e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
            ),
        ),
        (
            b"\x0b" * 22,
            b"",
            b"",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ),
    ],
    ids=["A.1", "A.2", "A.3"],
)
def test_hkdf_agrees_with_rfc_5869(secret: bytes, salt: bytes, info: bytes, okm: str) -> None:
    expected = bytes.fromhex(okm)
    for length in (len(expected), 32, 1):
        assert hkdf_sha256(secret, salt=salt, info=info, length=length) == expected[:length]


def test_keys_of_different_journals_and_purposes_differ() -> None:
    keys = {
        derive_key(SECRET, journal_id=journal_id, purpose=purpose)
        for journal_id in ("00" * 16, "01" + "00" * 15)
        for purpose in Purpose
    }
    assert len(keys) == 2 * len(Purpose)
    assert {len(key) for key in keys} == {32}


@given(st.binary(max_size=200))
def test_a_seal_is_hmac_sha_256_over_domain_separator_and_message(message: bytes) -> None:
    """J4."""
    for domain in (DOMAIN_V1, DOMAIN_V2):
        expected = hmac.new(SECRET, domain + b"||" + message, hashlib.sha256).hexdigest()
        assert Sealer(SECRET, domain=domain).seal(message) == expected
        assert Sealer(SECRET, domain=domain).verifies(message, expected)


def test_a_seal_of_another_domain_or_key_does_not_verify() -> None:
    """J5."""
    sealers = [
        Sealer(SECRET),
        Sealer(SECRET, domain=DOMAIN_V1),
        Sealer(bytes(SECRET[:31]) + bytes([SECRET[31] ^ 1])),
    ]
    for one, other in combinations(sealers, 2):
        assert not one.verifies(b"message", other.seal(b"message"))


def test_a_seal_has_one_spelling() -> None:
    """As text: upper case, blanks, another length, digits of another script are other seals."""
    sealer = Sealer(SECRET)
    seal = sealer.seal(b"message")
    assert sealer.verifies(b"message", seal)
    spellings = {seal.upper(), f" {seal}", f"{seal}\n", seal[:-1], seal + "0", "", "0x" + seal}
    spellings |= {seal.replace(digit, chr(0xFF10 + int(digit))) for digit in seal if digit.isdecimal()}
    for spelling in spellings:
        assert not sealer.verifies(b"message", spelling), spelling
    for at in range(64):
        for digit in set("0123456789abcdef") - {seal[at]}:
            assert not sealer.verifies(b"message", seal[:at] + digit + seal[at + 1 :])


def test_a_sealer_is_not_changed_by_use() -> None:
    sealer = Sealer(SECRET)
    assert sealer.seal(b"one") == sealer.seal(b"one") != sealer.seal(b"two")


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33), b"x" * 31, bytes(32), b"\xff" * 32])
def test_a_key_that_is_short_or_no_secret_is_refused(secret: bytes) -> None:
    with pytest.raises(KeyFileError):
        Key(secret)


def shown(thing: Any) -> str:
    return f"{thing!r} {thing!s} {thing} {vars(thing) if hasattr(thing, '__dict__') else ''}"


def check_no_secret_in(text: str, *secrets: bytes) -> None:
    for secret in secrets:
        for spelling in (secret.hex(), secret.hex().upper(), repr(secret)[2:-1], str(list(secret))[1:-1]):
            assert spelling not in text


def test_nothing_shows_the_key(twenty: Store) -> None:
    """Neither the key, nor a sealer, nor a journal, closed or open, nor what it found."""
    with twenty.opened() as journal:
        secrets = [twenty.key.secret] + [
            derive_key(twenty.key.secret, journal_id=journal.journal_id, purpose=purpose)
            for purpose in Purpose
        ]
        for thing in (twenty.key, twenty.sealers(), twenty.sealers().record, journal, journal._found):
            check_no_secret_in(shown(thing), *secrets)
    check_no_secret_in(shown(journal), *secrets)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_that_holds_a_key_is_pickled_or_copied(twenty: Store, protocol: int) -> None:
    with twenty.opened(read_only=True) as journal:
        for thing in (twenty.key, twenty.sealers(), twenty.sealers().record, journal):
            with pytest.raises(TypeError):
                pickle.dumps(thing, protocol)
            with pytest.raises(TypeError):
                copy.deepcopy(thing)


def test_no_error_about_a_key_shows_it(tmp_path: Path) -> None:
    path = tmp_path / "key"
    for text in (SECRET.hex()[:-1], SECRET.hex() + "00", SECRET.hex()[:-1] + "g"):
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(KeyFileError) as caught:
            read_key(Files(), path)
        assert text[:16] not in "".join(traceback.format_exception(caught.value))


def test_a_key_file_reads_back_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "for" / "it" / "key"
    previous = os.umask(0)
    try:
        made = make_key(Files(), path)
    finally:
        os.umask(previous)
    assert read_key(Files(), path).secret == made.secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert make_key(Files(), path.with_name("other")).secret != made.secret


def test_a_key_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    """With the key the journal is gone for good."""
    made = make_key(Files(), tmp_path / "key")
    with pytest.raises(KeyFileError):
        make_key(Files(), tmp_path / "key")
    assert read_key(Files(), tmp_path / "key").secret == made.secret


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o644, 0o601])
def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    make_key(Files(), tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_key(Files(), tmp_path / "key")


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="no such key file"):
        read_key(Files(), tmp_path / "key")


def test_a_flipped_bit_in_a_key_file_never_opens_the_journal_with_another_key(twenty: Store) -> None:
    """It is refused, or read as a key under which nothing verifies, or means the same digits."""
    path = twenty.base / "key"
    path.write_text(twenty.key.secret.hex() + "\n")
    path.chmod(0o600)
    whole = path.read_bytes()
    line = twenty.live.read_bytes().splitlines(keepends=True)[0]
    journal_id = twenty.report().journal_id
    for number in range(len(whole) * 8):
        at, bit = divmod(number, 8)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        try:
            key = read_key(Files(), path)
        except KeyFileError:
            continue
        if key.secret != twenty.key.secret:
            sealer = Sealer(derive_key(key.secret, journal_id=journal_id, purpose=Purpose.RECORD))
            with pytest.raises(ChainBroken):
                next(walk(line, Chain(journal_id, twenty.agent_id), sealer))
