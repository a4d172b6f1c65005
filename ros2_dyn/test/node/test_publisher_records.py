# SPDX-License-Identifier: Apache-2.0
"""Whether a publisher is dead: only where the end of its process is proved."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ros2_dyn.ros import publisher_records
from ros2_dyn.ros.publisher_records import KEPT, PublisherRecord, is_dead

GID = bytes(range(16))
KEEPS = "import sys; from ros2_dyn.ros.publisher_records import *; r = PublisherRecord(bytes.fromhex(sys.argv[1])); "
Start = Callable[[bytes], "subprocess.Popen[bytes]"]


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch) -> Path:
    """Let the files lie in a folder of the test."""
    monkeypatch.setattr(publisher_records, "SHARED_MEMORY", tmp_path)
    return tmp_path


@pytest.fixture
def start(memory) -> Iterator[Start]:
    """Start processes that have a publisher; each tells when it has its file."""
    processes = []

    def start(gid: bytes) -> "subprocess.Popen[bytes]":
        code = "import ros2_dyn.ros.publisher_records as m; from pathlib import Path; "
        code += f"m.SHARED_MEMORY = Path({str(memory)!r}); "
        command = [sys.executable, "-c", code + KEEPS + "print(); sys.stdout.flush(); sys.stdin.read()", gid.hex()]
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert processes[-1].stdout.readline() == b"\n"
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def folder(memory: Path) -> Path:
    """Return the folder of this user's files."""
    return memory / f"ros2_dyn_{os.geteuid()}"


def test_publisher_of_a_process_that_was_killed_is_dead_and_one_that_is_stopped_is_not(start):
    process = start(GID)
    assert not is_dead(GID)
    process.send_signal(signal.SIGSTOP)
    assert not is_dead(GID)
    process.kill()
    process.wait()
    assert is_dead(GID)


def test_publisher_without_a_file_is_not_known_to_be_dead(start):
    start(GID).kill()
    assert not is_dead(GID[::-1])
    assert not is_dead(b"")


def test_publisher_of_a_process_that_goes_on_is_not_dead_before_and_after_it_is_closed():
    record = PublisherRecord(GID)
    assert not is_dead(GID)
    record.close()
    record.close()
    assert not is_dead(GID)


def test_same_publisher_of_another_process_lives(start):
    """Identifiers may come again."""
    first = start(GID)
    first.kill()
    first.wait()
    start(GID)
    assert not is_dead(GID)


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_folder_that_others_may_use_proves_nothing(memory, mode):
    (made := folder(memory)).mkdir()
    (made / GID.hex()).touch()
    made.chmod(0o700)
    assert is_dead(GID)
    made.chmod(mode)
    assert not is_dead(GID)
    PublisherRecord(GID[::-1])
    assert [path.name for path in made.iterdir()] == [GID.hex()]


def test_folder_that_is_a_link_proves_nothing(memory, tmp_path):
    (elsewhere := tmp_path / "elsewhere").mkdir(mode=0o700)
    (elsewhere / GID.hex()).touch()
    folder(memory).symlink_to(elsewhere)
    assert not is_dead(GID)


def test_files_of_dead_processes_are_removed_an_hour_after_the_next_start(memory, start):
    process = start(GID)
    process.kill()
    process.wait()
    path, long_ago = folder(memory) / GID.hex(), time.time() - 2 * KEPT
    os.utime(path, (long_ago, long_ago))
    PublisherRecord(GID[::-1]).close()
    assert is_dead(GID)  # it may have died just now, after hours
    os.utime(path, (long_ago, long_ago))
    PublisherRecord(GID[::-1]).close()
    assert not path.exists()
