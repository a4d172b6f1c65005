# SPDX-License-Identifier: Apache-2.0
"""Recordings and black boxes as timelines: what is shown at a moment is what the library computes for it."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm
from ros2_dyn.dynamics import coriolis, gravity, jacobian, joint_wrenches, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import CommandLink, JointSample, black_box_file, run_work
from ros2_dyn.runtime.black_box import RecordingRuntime
from ros2_dyn.runtime.inputs import ModeRequest, TimePassed
from ros2_dyn_tools.recording.detection import observations
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.viewer.picture import (
    CORIOLIS,
    EXTERNAL,
    GRAVITY,
    INVERSE_DYNAMICS,
    MEASURED,
    THRESHOLD,
    read_robot,
)
from ros2_dyn_tools.viewer.recorded_motion import SHOWN_FOR, accelerations, observe_all, recorded_motion
from ros2_dyn_tools.viewer.recorded_stop import recorded_stop
from runtime_rig import NAMES, SETTINGS, description

MODEL = mock_arm()
HOME = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])
THRESHOLDS = (12.0, 12.0, 5.0, 4.0, 4.0, 4.0)
PUSH = np.array([30.0, 30.0, -60.0])
BEGIN, END = 3.0, 3.5


def motion(pushed: bool = True) -> Recording:
    """Six seconds at 250 Hz, with a push on the forearm."""
    t = np.arange(1500)[:, None] / 250
    w = np.array([1.0, 1.3, 0.8, 2.0, 1.5, 2.5])
    q, qd, qdd = HOME + 0.3 * np.sin(w * t), 0.3 * w * np.cos(w * t), -0.3 * w**2 * np.sin(w * t)
    effort = rnea(MODEL, q, qd, qdd)
    during = (t[:, 0] >= BEGIN) & (t[:, 0] < END) & pushed
    effort[during] -= np.einsum("kij,i->kj", jacobian(MODEL, q[during], "forearm_link", [-0.35, 0, 0])[:, :3], PUSH)
    return Recording(t[:, 0], q, qd, effort)


@pytest.fixture(scope="module")
def timeline():
    recording = motion()
    found = recorded_motion(read_robot(MOCK_ARM), recording, "bag", THRESHOLDS)
    observe_all(found, recording)
    return found


def test_picture_holds_the_state_and_the_terms_of_its_moment(timeline):
    recording, picture = motion(), timeline.picture(2.0021)
    i = 500
    q, qd = recording.q[i], recording.qd[i]
    assert picture.t == recording.t[i]
    assert_allclose(picture.q, q)
    assert_allclose(picture.efforts[MEASURED], recording.effort[i])
    assert_allclose(picture.efforts[GRAVITY], gravity(MODEL, q), atol=1e-9)
    assert_allclose(picture.efforts[CORIOLIS], coriolis(MODEL, q, qd), atol=1e-9)
    assert_allclose(picture.efforts[INVERSE_DYNAMICS], recording.effort[i], atol=0.05)  # filtered accelerations
    assert_allclose(picture.joint_wrenches, joint_wrenches(MODEL, q, qd, timeline.qdd[i]), atol=1e-9)


def test_collision_is_shown_from_the_push_on_until_a_while_after_it_with_its_link(timeline):
    shown = np.array([timeline.picture(t).status.collision for t in np.arange(0, 6, 0.02)])
    at = np.arange(0, 6, 0.02)[shown]
    assert BEGIN < at[0] < BEGIN + 0.06
    assert END + SHOWN_FOR <= at[-1] < END + SHOWN_FOR + 0.3
    assert timeline.picture(END - 0.1).status.contact_link == "forearm_link"
    assert timeline.picture(END - 0.1).external is None  # the tip is not touched
    assert timeline.picture(1.0).status.contact_link == ""


def test_external_efforts_are_those_of_the_push(timeline):
    picture = timeline.picture(END - 0.02)
    expected = jacobian(MODEL, picture.q, "forearm_link", [-0.35, 0, 0])[:3].T @ PUSH
    assert_allclose(picture.efforts[EXTERNAL], expected, atol=0.5)
    assert_allclose(picture.efforts[THRESHOLD], THRESHOLDS)


def test_accelerations_are_those_of_a_butterworth_filter_forwards_and_backwards():
    t = np.arange(2000) / 250
    for f, gain in ((1.0, 1 / 1.0001), (10.0, 0.5), (30.0, 1 / 82)):
        w = 2 * np.pi * f
        found = accelerations(t, np.sin(w * t)[:, None])[:, 0]
        of_differences = np.sin(w / 250) * 250  # what np.gradient makes of the derivative's w
        assert_allclose(found[200:-200], gain * of_differences * np.cos(w * t)[200:-200], atol=1e-3 * w)
    assert_allclose(accelerations(t, (2.0 + 3.0 * t)[:, None]), 3.0, atol=1e-4)  # to both ends
    assert_allclose(accelerations(t[:2], (3.0 * t[:2])[:, None]), 3.0, atol=1e-4)
    assert_allclose(accelerations(t[:1], np.ones((1, 1))), 0.0)


def test_opening_a_recording_imports_nothing_that_takes_half_a_second():
    program = """
import sys
import numpy as np
from ros2_dyn_tools.cli import view
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.viewer.recorded_motion import recorded_motion
robot, t = view.read_robot(sys.argv[1]), np.arange(100) / 250
recorded_motion(robot, Recording(t, *np.ones((3, 100, robot.model.n))), "bag")
print(*({"scipy.signal", "scipy.spatial"} & set(sys.modules)))
"""
    found = subprocess.run([sys.executable, "-c", program, str(MOCK_ARM)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_observations_of_a_recording_make_no_lists_of_all_its_rows():
    rows = observations(MODEL, motion(), 25.0)
    before = len(gc.get_objects())
    next(rows)
    assert len(gc.get_objects()) - before < len(motion().t)


def test_window_ends_at_the_moment_shown(timeline):
    window = timeline.window(2.0, 1.0, 5000)
    assert len(window.t) == 250
    assert window.t[-1] == 0.0
    assert_allclose(window.efforts[-1], timeline.picture(2.0).efforts)
    assert len(timeline.window(0.0, 10.0, 300).t) == 1
    assert len(timeline.window(timeline.duration, 10.0, 300).t) <= 300


def test_recording_without_thresholds_shows_no_collision():
    recording = motion()
    found = recorded_motion(read_robot(MOCK_ARM), recording, "bag")
    assert np.all(np.isnan(found.efforts[:, EXTERNAL]))
    assert found.picture(END).external is None
    observe_all(found, recording)
    assert not found.collision.any()
    with pytest.raises(InputError, match="expected 6 numbers, got 2"):
        recorded_motion(read_robot(MOCK_ARM), recording, "bag", (1.0, 2.0))


def test_black_box_shows_mode_reason_and_efforts_of_the_node(tmp_path):
    pytest.importorskip("mcap", reason="mcap is not installed")
    runtime, now = RecordingRuntime(description(), SETTINGS), 100.0
    runtime.step(CommandLink(topic="/commands"), now)
    for i in range(650):
        now += 0.01
        noise = 1e-6 * np.sin(10.0 * i + np.arange(3))
        if i < 500:  # then states end, which stops the mode
            stamp = round(1e9 * now)
            runtime.step(JointSample(stamp, NAMES, (HOME[:3] + noise).tolist(), noise.tolist(), (), stamp), now)
        runtime.step(TimePassed(), now)
        if i == 300:
            run_work(runtime, runtime.step(ModeRequest("gravity"), now), now)
    recording = runtime.box.take_stop(now)
    black_box_file.write(recording, tmp_path / "box.mcap")
    assert black_box_file.is_black_box(tmp_path / "box.mcap")
    found = recorded_stop(tmp_path / "box.mcap")
    first, last = found.picture(0.0), found.picture(found.duration)
    assert (first.status.mode, last.status.mode) == ("monitor", "gravity")
    assert last.status.source == f"box.mcap: {recording.reason}"
    assert_allclose(last.efforts[GRAVITY], gravity(runtime.robot.model, last.q), atol=1e-9)
    assert np.all(np.diff(found.t) > 0)
    assert found.robot.urdf == ""


def test_file_of_another_kind_is_no_black_box(tmp_path):
    (tmp_path / "other.mcap").write_bytes(b"no mcap")
    assert not black_box_file.is_black_box(tmp_path / "other.mcap")
    assert not black_box_file.is_black_box(tmp_path / "nothing.mcap")


def test_file_is_not_expanded_to_see_whether_it_is_a_black_box(tmp_path, monkeypatch):
    """A small chunk could hold any number of bytes."""
    from mcap.writer import IndexType, Writer

    with (tmp_path / "bomb.mcap").open("wb") as file:
        plain = dict.fromkeys(("repeat_channels", "repeat_schemas", "use_statistics", "use_summary_offsets"), False)
        writer = Writer(file, index_types=IndexType.NONE, **plain)  # without a summary of what it holds
        writer.start(profile="", library="")
        channel = writer.register_channel("a", "json", writer.register_schema("a", "jsonschema", b"{}"))
        writer.add_message(channel, 0, bytes(1_000_000), 0)
        writer.finish()
    monkeypatch.setattr("mcap.stream_reader.breakup_chunk", lambda *_, **__: pytest.fail("it is expanded"))
    assert not black_box_file.is_black_box(tmp_path / "bomb.mcap")
