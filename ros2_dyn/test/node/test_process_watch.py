# SPDX-License-Identifier: Apache-2.0
"""Whether a process is seen to end at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ros2_dyn.ros.process_watch import ProcessWatch
from ros_harness import PATIENCE

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc here")


def wait(watch: ProcessWatch) -> None:
    """Wait until it is seen to end."""
    deadline = time.monotonic() + PATIENCE
    while not watch.ends:
        assert time.monotonic() < deadline, "it is not seen to end"
        time.sleep(0.001)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_process_is_seen_to_end_before_and_after_its_parent_has_noticed(number):
    """One that is stopped has not ended. Its name, which the entry contains, may have spaces and brackets."""
    code = "open('/proc/self/comm', 'w').write('a) R (b'); print(1, flush=True); __import__('time').sleep(1000)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        watch = ProcessWatch(process.pid)
        assert not watch.ends
        process.send_signal(signal.SIGSTOP)
        assert not watch.ends
        process.send_signal(signal.SIGCONT)
        process.send_signal(number)
        wait(watch)
    finally:
        process.kill()
        process.wait()
    assert watch.ends


def test_a_process_that_ends_by_itself_is_seen_to_end():
    """It becomes a zombie, as its parent does not ask."""
    process = subprocess.Popen(["true"])
    wait(ProcessWatch(process.pid))
    process.wait()


def test_a_process_that_cannot_be_seen_does_not_end(monkeypatch):
    """Then its pipe tells."""
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: real("/there/is/no" + path, *rest))
    assert not ProcessWatch(os.getpid()).ends
