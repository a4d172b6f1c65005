# SPDX-License-Identifier: Apache-2.0
"""The black box of the node: a stop writes a file that replays the same; files are bounded; mcap may be missing."""

import os
import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")
pytest.importorskip("mcap", reason="mcap is not installed")

from driven_arms import ObedientArm, StandingArm
from driver import COMMANDED_NODE, Driver
from robots import MOCK_ARM
from ros2_dyn.ros import black_box_writer
from ros2_dyn.ros.black_box_writer import BlackBoxWriter, delete_oldest, file_name
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.black_box import Beginning, Recording, RecordingRuntime
from ros2_dyn.runtime.inputs import TimePassed
from ros2_dyn_tools.recording import black_box_reader
from ros2_dyn_tools.recording.replay import replay
from ros_harness import words


@pytest.fixture
def node(listener, tmp_path):
    """A node that writes into a folder."""
    folder = tmp_path / "boxes"
    parameters = {"outputs.black_box": str(folder), "commands.model_tolerance": 10.0}  # it stands, whatever it exerts
    driver = Driver.of(listener, ObedientArm(speed=0.0), **parameters)
    yield driver, folder
    driver.close()


def test_stop_writes_a_file_that_replays_the_same(node):
    """So does the end of a node that commands; a mode that is left on request writes none."""
    driver, folder = node
    driver.enter("gravity")
    driver.set_mode("monitor")
    driver.play(60)
    assert not folder.exists()
    driver.enter("gravity")
    driver.arm.speed = 5.0  # above the limit
    driver.until(lambda: driver.step() and driver.modes[-1] != "gravity", "it does not stop")
    driver.arm.speed = 0.0
    driver.until(lambda: driver.step() and list(folder.glob("*.mcap")), "no file is written")
    (path,) = folder.glob("*.mcap")
    recording, about = black_box_reader.read(path)
    assert "too-fast" in path.name
    assert about.reason.startswith("too fast")
    replayed = list(replay(recording))
    assert all(each.same for each in replayed)
    assert max(each.difference for each in replayed) == 0
    modes = [each.decision.mode for each in replayed]
    assert "stopped" in modes[modes.index("gravity") :]
    driver.until(lambda: driver.set_mode("gravity").success, "no mode")
    driver.play(5)
    printed = driver.close()
    assert f"black box written: {path}" in printed
    assert len(list(folder.glob("*.mcap"))) == 2
    last = max(folder.glob("*.mcap"), key=lambda file: file.stat().st_mtime_ns)
    assert "the-process-ends" in last.name
    assert all(each.same for each in replay(black_box_reader.read(last)[0]))


def test_node_without_mcap_says_so_once_and_commands(listener, start, tmp_path):
    (tmp_path / "mcap").mkdir()
    (tmp_path / "mcap" / "__init__.py").write_text("raise ImportError('hidden')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    process = start("ros2_dyn.ros.dynamics_node", *words(urdf_file=str(MOCK_ARM), **COMMANDED_NODE), PYTHONPATH=path)
    driver = Driver(listener, process, arm=StandingArm(speed=0.0), simulated=True)
    driver.begin()
    driver.play(10)
    driver.until(lambda: driver.set_mode("gravity").success, "no mode")  # a failsafe ends first
    printed = driver.close()
    assert printed.count("mcap is not installed: pip install mcap") == 1


def test_oldest_black_boxes_are_deleted_and_no_other_file(tmp_path, monkeypatch):
    runtime = RecordingRuntime()
    runtime.step(TimePassed(), 0.0)
    recording = runtime.box.take("x", 0.0)
    own = [tmp_path / f"2026-01-01T00-00-{number:02d}-000_too-fast.mcap" for number in range(30)]
    others = [tmp_path / "a.mcap", own[0].with_name(own[0].name.replace("01-01", "01-02")), tmp_path / ".x.mcap.part"]
    part = tmp_path / f".{own[0].name}.part"
    for path in own:
        black_box_file.write(recording, path)
    for path in (*others, part):
        path.write_bytes(b"of the user")
    for number, path in enumerate((part, *others, *own)):
        os.utime(path, (number, number))
    delete_oldest(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*others, *own[-black_box_writer.MAX_FILES :]])
    monkeypatch.setattr(black_box_writer, "MAX_BYTES", 2 * own[-1].stat().st_size)
    delete_oldest(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*others, *own[-2:]])


def test_stops_without_end_take_a_bounded_space(tmp_path):
    runtime, reports = RecordingRuntime(), []
    runtime.step(TimePassed(), 0.0)
    writer = BlackBoxWriter(tmp_path, reports.append, reports.append)
    for number in range(black_box_writer.MAX_FILES + 5):
        writer.write(runtime.box.take("too fast: 7 rad/s", float(number)), 0.0)
    writer.close()
    assert len(reports) == black_box_writer.MAX_FILES + 5
    assert len(list(tmp_path.iterdir())) == black_box_writer.MAX_FILES
    assert black_box_reader.read(next(tmp_path.iterdir()))[0].records[0].kind == "time"


def test_folder_that_cannot_be_written_is_warned_of(tmp_path):
    (tmp_path / "file").touch()
    reports: list[str] = []
    warnings: list[str] = []
    runtime = RecordingRuntime()
    runtime.step(TimePassed(), 0.0)
    writer = BlackBoxWriter(tmp_path / "file" / "folder", reports.append, warnings.append)
    writer.write(runtime.box.take("x", 0.0), 0.0)
    writer.close()
    assert "the black box is not written" in warnings[0]
    assert not reports


def test_file_is_named_by_time_and_reason():
    empty = Recording("joint 'a' ../is too/fast: 7", 1000.5, Beginning({}, None, "monitor", True), ())
    expected = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(2000.5))
    assert file_name(empty, 1000.0) == f"{expected}-500_joint-a-is-too-fast.mcap"
