"""On what kind of file system a journal lies: over a network, locks and syncs are not what they promise."""

from __future__ import annotations

import re
from pathlib import Path

from hippo_async.files import Files

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    [
        "afs",
        "ceph",
        "cifs",
        "davfs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    ]
)

_OCTAL = re.compile(rb"\\([0-7]{3})")


def network_file_system(files: Files, path: Path) -> str | None:
    """Return the type of the network file system that a path lies on, or ``None`` for any other.

    Where the system does not tell (only Linux does), ``None`` too.
    """
    try:
        mounts = files.read(MOUNTS)
    except OSError:
        return None
    kind = file_system(mounts, path.resolve())
    return kind if kind in NETWORK else None


def file_system(mounts: bytes, path: Path) -> str | None:
    """Return the file system type of the mount that holds a path, from the lines of ``mountinfo``. Pure."""
    held = [mount for mount in map(_mount, mounts.splitlines()) if mount and path.is_relative_to(mount[0])]
    # of two mounts on one point the later one covers the earlier
    return max(enumerate(held), key=lambda entry: (len(entry[1][0].parts), entry[0]))[1][1] if held else None


def _mount(line: bytes) -> tuple[Path, str] | None:
    before, _, after = line.partition(b" - ")
    fields, kind = before.split(b" "), after.split(b" ")[0]
    if len(fields) < 5 or not kind:
        return None
    point = _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), fields[4])
    return Path(point.decode("utf-8", "surrogateescape")), kind.decode("ascii", "replace")
