"""Measures in a process of its own, whose memory is then nothing but what was measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hippo_bench.measure import Samples

_CHILD = Path(__file__).with_name("child.py")


@dataclass(slots=True)
class Process:
    """One side of a comparison: runs :mod:`hippo_bench.child` for each round, and keeps what memory it took.

    ``records`` is how many a run has to prove; 0 where nothing is proved.
    """

    kind: str
    store: Path
    records: int = 0
    _peaks: list[float] = field(default_factory=list)

    def seconds(self) -> float:
        """Run once. Raises ``AssertionError`` if not all records were proved."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(_CHILD), self.kind, str(self.store)]
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        found = json.loads(answer.stdout)
        if found["proved"] != self.records:
            raise AssertionError(f"{self.kind} proved {found['proved']} of {self.records} records")
        self._peaks.append(found["peak_mib"])
        return float(found["seconds"])

    def rate(self) -> float:
        """Run once and return how many records were proved a second."""
        return self.records / self.seconds()

    @property
    def peaks(self) -> Samples:
        """The peak memory of each run, in MiB."""
        return Samples(tuple(self._peaks))
