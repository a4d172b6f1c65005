# SPDX-License-Identifier: Apache-2.0
"""Recordings from bags and CSV files, by name, whole or in part."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from recordings import MODEL, bag_of_states, recorded_motion, serialised_state
from recordings import write_bag as write_driver_bag
from ros2_dyn.errors import InputError
from ros2_dyn_tools.recording import recording_bag
from ros2_dyn_tools.recording.recording import read_recording
from ros2_dyn_tools.recording.recording_bag import state_columns

JOINTS = ("shoulder", "elbow")


def write_bag(path, states, mcap=False):
    """Write states of time, positions, velocities and efforts of elbow and shoulder, in this order."""
    pytest.importorskip("rosbags", reason="rosbags, which writes the bag, is not installed")
    with bag_of_states(path, 8, mcap) as write:
        for received, (t, *numbers) in enumerate(states):
            write(10**9 * received, serialised_state(round(t * 1e9), ["elbow", "shoulder"], *numbers))


@pytest.mark.parametrize("mcap", [False, True])
def test_bag_of_either_storage_is_read_by_name(tmp_path, mcap):
    write_bag(tmp_path / "bag", [(2.0, [1, 2], [3, 4], [5, 6]), (2.5, [7, 8], [9, 10], [11, 12])], mcap)
    t, q, qd, effort = read_recording(tmp_path / "bag", JOINTS)
    assert_allclose(t, [0, 0.5])
    assert_array_equal([q, qd, effort], [[[2, 1], [8, 7]], [[4, 3], [10, 9]], [[6, 5], [12, 11]]])


def test_bag_of_a_driver_with_a_gripper_is_read_by_name(tmp_path):
    """Whatever else is in it; errors say what is missing."""
    pytest.importorskip("rosbags", reason="rosbags, which writes the bag, is not installed")
    recording = recorded_motion(seconds=1.0)
    write_driver_bag(tmp_path / "bag", recording, MODEL.joint_names)
    for found, expected in zip(read_recording(tmp_path / "bag", MODEL.joint_names), recording):
        assert_allclose(found, expected, rtol=0, atol=1e-8)
    for arguments, problem in (
        ((tmp_path / "bag", ["nose"]), "no complete states of nose: its joints are elbow_joint, finger,"),
        ((tmp_path / "bag", ["nose"], "/other"), "it has no messages on /other"),
        ((tmp_path / "none", ["nose"]), "there is no"),
    ):
        with pytest.raises(InputError, match=problem):
            read_recording(*arguments)
    (tmp_path / "broken.db3").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_recording(tmp_path / "broken.db3", ["nose"])


def test_states_that_repeat_or_lack_something_are_skipped_unless_partial(tmp_path):
    states = [(2.0, [1, 2], [3, 4], [5, 6]), (2.0, [1, 2], [3, 4], [5, 6]), (3.0, [1, 2], [], [5, 6])]
    write_bag(tmp_path / "bag", [*states, (4.0, [1, 2], [3, 4], []), (5.0, [1, 2], [3, 4], [5, 6])])
    assert_allclose(read_recording(tmp_path / "bag", JOINTS).t, [0, 3])
    t, _, qd, effort = read_recording(tmp_path / "bag", JOINTS, partial=True)
    assert_allclose(t, [0, 0, 1, 2, 3])
    assert_array_equal(np.isnan(qd[:, 0]), [False, False, True, False, False])
    assert_array_equal(np.isnan(effort[:, 0]), [False, False, False, True, False])


def test_states_without_stamps_have_the_times_at_which_they_were_recorded(tmp_path):
    write_bag(tmp_path / "bag", [(0.0, [1, 2], [3, 4], [5, 6])] * 3)
    assert_allclose(read_recording(tmp_path / "bag", JOINTS).t, [0, 1, 2])


HEADER = "elbow.position,time,shoulder.position,shoulder.velocity,note,elbow.velocity,elbow.effort,shoulder.effort\n"


def test_csv_is_read_by_the_names_of_its_columns(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text(HEADER + "1,10.5,2,4,x,3,5,6\n\n7,11,8,10,y,9,11,12\n")
    t, q, qd, effort = read_recording(path, JOINTS)
    assert_allclose(t, [0, 0.5])
    assert_array_equal([q, qd, effort], [[[2, 1], [8, 7]], [[4, 3], [10, 9]], [[6, 5], [12, 11]]])


def test_velocities_that_nobody_recorded_are_the_derivatives_of_the_positions(tmp_path):
    t = np.linspace(0.0, 2.0, 201)
    write_bag(tmp_path / "bag", [(1.0 + x, [x * x, np.sin(x)], [], [5, 6]) for x in t.tolist()])
    _, _, qd, _ = read_recording(tmp_path / "bag", JOINTS)
    assert_allclose(qd[1:-1], np.stack([np.cos(t), 2 * t], axis=1)[1:-1], atol=1e-4)


def test_csv_without_velocities_has_none_where_a_part_will_do(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("time,elbow.position,elbow.effort\n0,1,2\n1,3,\n")
    _, q, qd, effort = read_recording(path, ["elbow"], partial=True)
    assert_array_equal(q, [[1], [3]])
    assert np.all(np.isnan(qd))
    assert_array_equal(effort, [[2], [np.nan]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("time,elbow.position\n0,1\n", "no column 'shoulder.position'; it has time, elbow.position"),
        ("", "no column 'time'"),
        (HEADER + "1,10.5,2,4,x,3,5,six\n", "line 2: could not convert string to float: 'six'"),
        (HEADER + "1,10.5\n", "line 2: expected 8 cells, got 2"),
        (HEADER + "1,10.5,2,4,x,3,5,nan\n", "numbers that are not finite"),
    ],
)
def test_csv_that_is_wrong_is_refused(tmp_path, text, problem):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_recording(path, JOINTS)


def test_long_recording_takes_no_more_memory_than_its_numbers(tmp_path):
    """20 000 states of two joints are 1.1 MB; the states as lists would be 8 MB."""
    path = tmp_path / "motion.csv"
    with path.open("w") as file:
        file.write(HEADER)
        file.writelines(f"1,{0.001 * i:.3f},2,3,x,4,5,6\n" for i in range(20_000))
    code = f"""
import tracemalloc
from ros2_dyn_tools.recording import recording_bag
from ros2_dyn_tools.recording.recording import read_recording
from ros2_dyn_tools.recording.recording_bag import state_columns
tracemalloc.start()
read_recording({str(path)!r}, {JOINTS!r})
print(tracemalloc.get_traced_memory()[1])
"""
    peak = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert peak < 2.5 * 1.1e6


def test_bag_of_messages_that_are_all_alike_is_read_as_one_array_with_the_same_result(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    times = np.concatenate([[0.0, 0.0], np.cumsum(rng.uniform(-0.2, 1.0, 40))])  # without stamp, late and repeated ones
    write_bag(tmp_path / "bag", [(max(t, 0.0), *rng.normal(size=(3, 2))) for t in times])
    assert recording_bag.columns(tmp_path / "bag", JOINTS, "/joint_states").shape == (42, 7)
    fast = read_recording(tmp_path / "bag", JOINTS)
    monkeypatch.setattr(recording_bag, "columns", lambda *_: None)
    for mine, theirs in zip(fast, read_recording(tmp_path / "bag", JOINTS)):
        assert_array_equal(mine, theirs)


@pytest.mark.parametrize("other", [([1, 2], [3, 4], []), ([1, 2], [], [5, 6])])
def test_bag_with_a_message_that_differs_is_read_one_by_one(tmp_path, other):
    write_bag(tmp_path / "bag", [(1.0, [1, 2], [3, 4], [5, 6]), (2.0, *other), (3.0, [1, 2], [3, 4], [5, 6])])
    assert recording_bag.columns(tmp_path / "bag", JOINTS, "/joint_states") is None
    assert_allclose(read_recording(tmp_path / "bag", JOINTS).t, [0, 2])


def test_messages_that_are_cut_off_or_lack_a_joint_are_not_taken_as_alike():
    assert state_columns([], [], JOINTS) is None
    assert state_columns([b"\0\1\0\0" + bytes(20)], [0], JOINTS) is None
    assert state_columns([b"\0\0\0\0" + bytes(20)], [0], JOINTS) is None
    assert state_columns([b"\0\1\0\0" + bytes(8) + b"\xff" * 30], [0], JOINTS) is None
