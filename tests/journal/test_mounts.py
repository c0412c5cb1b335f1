"""F46: a journal on a network file system is opened, and says what that is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hippo_async.files import Files
from hippo_async.journal import mounts
from hippo_async.journal.mounts import file_system, network_file_system

if TYPE_CHECKING:
    from conftest import Store

MOUNTINFO = rb"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /home rw shared:5 - nfs4 server:/home rw,vers=4.2
31 30 8:2 / /home/ada/local rw shared:6 master:2 - xfs /dev/sdb1 rw
32 22 0:26 / /mnt/two\040words rw - fuse.sshfs ada@host: rw
33 22 0:27 / /covered rw - ext4 /dev/sdc1 rw
34 33 0:28 / /covered rw - cifs //server/share rw
a line of another form
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/memory", "ext4"),
        ("/home/ada/memory", "nfs4"),
        ("/home/ada/local/memory", "xfs"),
        ("/homes/memory", "ext4"),
        ("/mnt/two words/memory", "fuse.sshfs"),
        ("/covered/memory", "cifs"),
    ],
)
def test_the_innermost_and_latest_mount_is_the_one_that_holds_a_path(path: str, kind: str) -> None:
    assert file_system(MOUNTINFO, Path(path)) == kind


def test_a_system_that_does_not_tell_is_taken_for_a_local_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "nothing")
    assert network_file_system(Files(), tmp_path) is None
    assert file_system(b"", tmp_path) is None


def test_a_journal_on_a_network_file_system_is_reported_on_opening(
    twenty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "mountinfo"
    monkeypatch.setattr(mounts, "MOUNTS", told)
    told.write_text(f"1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / {twenty.base} rw - nfs4 server:/ rw\n")
    assert any("network file system (nfs4)" in note for note in twenty.report().notes)
    told.write_text("1 0 0:1 / / rw - ext4 /dev/sda rw\n")
    assert not any("network" in note for note in twenty.report().notes)
