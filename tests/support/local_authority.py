"""A time-stamping authority of RFC 3161: the command ``openssl ts`` behind a few files."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(
    OPENSSL is None, reason="needs the command `openssl` to be an authority of its own"
)

_SETTINGS = """
[ authority ]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/signer.pem
signer_key = {folder}/signer.key
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.2
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""
_EXTENSIONS = "keyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True)
class Authority:
    """Signs with a certificate of its own root, ``root.pem`` in its folder."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, name: str) -> Authority:
        """Make keys and certificates."""
        folder.mkdir()
        (folder / "settings").write_text(_SETTINGS.format(folder=folder))
        (folder / "extensions").write_text(_EXTENSIONS)
        (folder / "serial").write_text("01\n")
        root = ("-keyout", "root.key", "-out", "root.pem", "-subj", f"/CN={name} root", "-days", "3650")
        openssl(folder, "req", "-x509", *_NEW_KEY, *root)
        openssl(
            folder, "req", *_NEW_KEY, "-keyout", "signer.key", "-out", "signer.csr", "-subj", f"/CN={name}"
        )
        by_root = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "3650")
        sign = ("-in", "signer.csr", "-extfile", "extensions", "-out", "signer.pem")
        openssl(folder, "x509", "-req", *by_root, *sign)
        return cls(folder)

    @property
    def root(self) -> bytes:
        return (self.folder / "root.pem").read_bytes()

    def stamp(self, query: bytes) -> bytes:
        """Answer a request, one at a time."""
        (self.folder / "query").write_bytes(query)
        told = ("-config", "settings", "-section", "authority")
        openssl(self.folder, "ts", "-reply", "-queryfile", "query", *told, "-out", "reply")
        return (self.folder / "reply").read_bytes()

    def query(self, digest: str) -> bytes:
        """A request over a hash, with a nonce of its own."""
        openssl(self.folder, "ts", "-query", "-digest", digest, "-sha256", "-cert", "-out", "asked")
        return (self.folder / "asked").read_bytes()

    def verifies(self, reply: bytes, digest: str) -> bool:
        """What the command line says of a reply, by itself."""
        (self.folder / "given").write_bytes(reply)
        return openssl(
            self.folder,
            "ts",
            "-verify",
            "-digest",
            digest,
            "-in",
            "given",
            "-CAfile",
            "root.pem",
            check=False,
        )


def openssl(folder: Path, *arguments: str, check: bool = True) -> bool:
    assert OPENSSL is not None
    done = subprocess.run([OPENSSL, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 or not check, done.stderr
    return done.returncode == 0
