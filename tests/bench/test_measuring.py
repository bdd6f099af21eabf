"""What each stage of a measured explanation took."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO

import pytest

from afterd.bench.measuring import ProgressLog

BUSY = "import time\nwhile time.process_time() < 0.4: pass\nprint(flush=True)\ninput()"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_what_a_process_used_counts_when_it_did_and_not_when_it_ends() -> None:
    """A solver lives as long as the search: its time was that of the story, in which it ended."""
    log = ProgressLog(StringIO())
    log.stage("search")
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        log.stage("story")
        process.communicate(b"\n")
    log.stage("end")
    spent = log.spent()
    assert spent["search"] >= 0.35
    assert spent["story"] < 0.3
