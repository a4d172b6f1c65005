# SPDX-License-Identifier: Apache-2.0
"""Writes the black box of a node to files, in a thread that gives way to the commands, and bounds what they take."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import get_logging_directory
from rclpy.node import Node

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import ArmRuntime, Settings, black_box_file
from ros2_dyn.runtime.black_box import BlackBox, Recording, RecordingRuntime

MAX_FILES, MAX_BYTES = 20, 200_000_000
"""Number and size of the files in a folder; the oldest are deleted. One of a six-axis arm at 500 Hz is 3 MB."""
OWN_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}_[a-z0-9-]+\.mcap")
"""Names of the files; a file of another name, or by another program, is not counted and never deleted."""


class BlackBoxWriter:
    """Writes recordings, one after the other."""

    def __init__(self, folder: Path, report: Callable[[str], None], warn: Callable[[str], None]) -> None:
        """Create it.

        Args:
            folder: of the files; made when the first one is written.
            report: takes the name of each file that is written, in the thread that writes.
            warn: takes why one is not written, in that thread.
        """
        self._folder, self._report, self._warn = folder, report, warn
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="black box")
        self._running: Future[None] | None = None
        self._gives_way = True

    @property
    def busy(self) -> bool:
        """Whether a recording is being written."""
        return self._running is not None and not self._running.done()

    def write(self, recording: Recording, now: float) -> None:
        """Write a recording in the background.

        Args:
            recording: what the black box held.
            now: the runtime's time, s.
        """
        self._running = self._worker.submit(self._write, recording, time.time() - now)

    def close(self) -> None:
        """Wait for the newest recording, for a bounded time, and end."""
        self._gives_way = False
        if self._running is not None and wait([self._running], 5.0).not_done:
            self._warn("the black box is not written within 5 s")
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _write(self, recording: Recording, offset: float) -> None:
        count = 0

        def rest() -> None:
            nonlocal count
            count += 1
            if self._gives_way and count % 5 == 0:  # the interpreter is held for some 0.2 ms
                time.sleep(5e-4)

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / file_name(recording, offset)
            black_box_file.write(recording, path, offset, rest)
            delete_oldest(self._folder)
            self._report(f"black box written: {path}")
        except (OSError, Ros2DynError) as error:
            self._warn(f"the black box is not written: {error}")


class NodeBlackBox:
    """The black box of a node's runtime, where that has one."""

    def __init__(self, node: Node, runtime: ArmRuntime) -> None:
        self._logger = node.get_logger()
        self._box: BlackBox | None = None
        self._problem = ""
        if isinstance(runtime, RecordingRuntime):
            self._box = runtime.box
            folder = runtime.settings.outputs.black_box or Path(get_logging_directory()) / "black_box"
            self._writer = BlackBoxWriter(Path(folder), self._logger.info, self._logger.warning)

    def write_stop(self, now: float) -> None:
        """Write the recording of a stop some time after it, at a time in s."""
        box = self._box
        if box is None or self._writer.busy:
            return
        if box.problem != self._problem:
            self._problem = box.problem
            self._logger.error(f"the black box records no more: {box.problem}")
        if (recording := box.take_stop(now)) is not None:
            self._writer.write(recording, now)

    def close(self, now: float) -> None:
        """Write what is to be written at the end of the node, at a time in s."""
        if self._box is not None:
            if (recording := self._box.take_rest(now)) is not None:
                self._writer.write(recording, now)
            self._writer.close()


def make_runtime(model: RobotModel | None, settings: Settings, logger: RcutilsLogger) -> ArmRuntime:
    """Return the runtime of a node, with a black box where that is wanted and can be written.

    Raises:
        Ros2DynError: as `ArmRuntime`.
    """
    if settings.outputs.black_box == "none":
        return ArmRuntime(model, settings)
    if not black_box_file.is_available():
        logger.warning(f"stops are not recorded: {black_box_file.MISSING}, or set outputs.black_box to none")
        return ArmRuntime(model, settings)
    return RecordingRuntime(model, settings)


def file_name(recording: Recording, offset: float) -> str:
    """Return the name of the file of a recording: its time and its reason.

    Args:
        recording: what the black box held.
        offset: what has to be added to the runtime's time for a time since 1970, s.
    """
    at = recording.taken_at + offset
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(at))
    reason = re.sub(r"[^a-z0-9]+", "-", recording.reason.split(":")[0].lower()).strip("-")[:40]
    return f"{stamp}-{int(1000 * (at % 1)):03d}_{reason or 'stop'}.mcap"


def delete_oldest(folder: Path) -> None:
    """Delete the oldest black boxes of a folder until no more than `MAX_FILES` and `MAX_BYTES` of them are left.

    The folder may hold recordings of the user: a file is deleted only if its name and its metadata are a black box's.
    """
    own = [file for file in folder.glob("*.mcap") if OWN_NAME.fullmatch(file.name)]
    files = sorted(own, key=lambda file: (file.stat().st_mtime_ns, file.name), reverse=True)
    total = 0
    for number, file in enumerate(files):
        total += file.stat().st_size
        if (number >= MAX_FILES or (total > MAX_BYTES and number > 0)) and black_box_file.is_black_box(file):
            file.unlink(missing_ok=True)
    for unfinished in folder.glob(".*.mcap.part"):
        own_name = OWN_NAME.fullmatch(unfinished.name[1 : -len(".part")])
        if own_name and unfinished.stat().st_mtime < time.time() - 3600.0:  # of a process that was killed
            unfinished.unlink(missing_ok=True)
