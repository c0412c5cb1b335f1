"""Time-stamps by an authority (RFC 3161): proof that a day's anchor existed at a certain time.

What is stamped is the anchor's v2 payload; its SHA-256, the anchor's v2 hash, is all that the authority sees.
Whoever has the stored reply and that hash can check it without this package:
``openssl ts -verify -digest HASH -in REPLY -CAfile ROOTS``. Needs the extra ``timestamp``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import anyio.to_thread
from pydantic import JsonValue

from hippo_async.anchors.day import AnchoredDay, Receipt
from hippo_async.anchors.publishers import HTTP_SECONDS
from hippo_async.anchors.web import Endpoint, require
from hippo_async.errors import InvalidInput, TimestampRefused
from hippo_async.journal.canon import canonical
from hippo_async.records import utc_timestamp

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampRequest, TimeStampResponse, TimeStampTokenInfo

REPLY = "time_stamp_reply"
SHA256 = "2.16.840.1.101.3.4.2.1"


class TimestampPublisher:
    """Has a time-stamping authority stamp each day; its reply is the receipt.

    With ``roots``, from :func:`read_roots`, the reply must lead to one of them; without, it is kept as it is,
    to be verified later. Raises :class:`InvalidInput` for a bad address and :class:`MissingExtra`.
    """

    def __init__(
        self,
        url: str,
        *,
        roots: Sequence[Certificate] = (),
        name: str | None = None,
        seconds: float = HTTP_SECONDS,
    ) -> None:
        require("rfc3161_client", needed_for="a time-stamp")
        self._endpoint = Endpoint(url, seconds)
        self._roots = tuple(roots)
        self.name: str = name or f"timestamp {self._endpoint.shown}"

    async def publish(self, day: AnchoredDay) -> Mapping[str, JsonValue]:
        """Ask for a stamp with a fresh nonce, check the reply, and return it.

        Raises :class:`PublishFailed`, or :class:`TimestampRefused` for a reply to anything else than this
        request, or one that the roots do not vouch for.
        """
        request = await anyio.to_thread.run_sync(_request, day)
        answer = await self._endpoint.post(request.as_bytes(), content_type="application/timestamp-query")
        stamped = await anyio.to_thread.run_sync(self._check, answer.body, day, request.nonce)
        return {
            REPLY: base64.b64encode(answer.body).decode(),
            "time": utc_timestamp(stamped),
            "verified": bool(self._roots),
        }

    def _check(self, reply: bytes, day: AnchoredDay, nonce: int | None) -> datetime:
        return verify_timestamp(reply, bytes.fromhex(day.anchor_v2_hash), roots=self._roots, nonce=nonce)


def verify_timestamp(
    reply: bytes, anchor_v2_hash: bytes, *, roots: Sequence[Certificate], nonce: int | None = None
) -> datetime:
    """Check an authority's reply, offline, and return the time that it swears to.

    It must grant a stamp over this very hash (by SHA-256), with this ``nonce`` if one is given, and be signed
    by a certificate for time-stamping that leads to one of ``roots`` and was valid at that time. With no
    roots, who signed it stays open. Raises :class:`TimestampRefused` with the reason.
    """
    response, info = _granted(reply)
    imprint = info.message_imprint
    if (imprint.hash_algorithm.dotted_string, imprint.message) != (SHA256, anchor_v2_hash):
        raise TimestampRefused("it stamps another hash than the anchor's")
    if nonce is not None and info.nonce != nonce:
        raise TimestampRefused("its nonce is not that of the request: it answers another one")
    if roots:
        _verify_signer(response, anchor_v2_hash, roots)
    return info.gen_time


def verify_receipt(
    receipt: Receipt, anchor_v2_hash: bytes, *, roots: Sequence[Certificate]
) -> datetime | None:
    """Check the time-stamp in a stored receipt as :func:`verify_timestamp` does; ``None`` if it has none."""
    stored = receipt.returned.get(REPLY)
    if stored is None:
        return None
    try:
        reply = base64.b64decode(str(stored), validate=True)
    except binascii.Error:
        raise TimestampRefused("the stored reply is not base64") from None
    return verify_timestamp(reply, anchor_v2_hash, roots=roots)


def read_roots(pem: bytes) -> list[Certificate]:
    """Read root certificates in PEM. Raises :class:`InvalidInput` if there are none."""
    require("rfc3161_client", needed_for="verifying a time-stamp")
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return load_pem_x509_certificates(pem)
    except ValueError as error:
        raise InvalidInput(f"no certificates in PEM: {error}") from None


def _request(day: AnchoredDay) -> TimeStampRequest:
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    payload = canonical(day.anchor_v2.as_dict())
    return TimestampRequestBuilder().data(payload).hash_algorithm(HashAlgorithm.SHA256).build()


def _granted(reply: bytes) -> tuple[TimeStampResponse, TimeStampTokenInfo]:
    """Decode a reply and what it says. Raises :class:`TimestampRefused` if it grants nothing."""
    from rfc3161_client import PKIStatus, decode_timestamp_response

    try:
        response = decode_timestamp_response(reply)
        if response.status == PKIStatus.GRANTED:
            return response, response.tst_info
    except ValueError as error:
        raise TimestampRefused(f"not a reply of RFC 3161: {error}") from None
    said = " ".join(response.status_string)
    raise TimestampRefused(f"not granted, status {response.status} {said}".rstrip())


def _verify_signer(response: TimeStampResponse, hashed: bytes, roots: Sequence[Certificate]) -> None:
    from rfc3161_client import VerifierBuilder

    try:
        VerifierBuilder(roots=list(roots)).build().verify(response, hashed)
    except Exception as error:  # noqa: BLE001 - whatever the library stumbles over, it did not verify
        raise TimestampRefused(f"the roots do not vouch for it: {error}") from None
