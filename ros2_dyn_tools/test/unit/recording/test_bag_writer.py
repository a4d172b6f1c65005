# SPDX-License-Identifier: Apache-2.0
"""Bags that are written are those that are read."""

import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("rosbags", reason="rosbags is not installed")

from recordings import serialised_state
from ros2_dyn.errors import InputError
from ros2_dyn_tools.recording.bag_writer import JointStateBag
from ros2_dyn_tools.recording.recording import read_recording


def test_states_are_read_as_they_were_written_at_the_times_of_their_stamps(tmp_path):
    with JointStateBag(tmp_path / "bag") as bag:
        bag.write(7, serialised_state(5_250_000_000, ["b", "a"], [1, 2], [3, 4], [5, 6]))
        bag.write(8, serialised_state(5_750_000_000, ["b", "a"], [7, 8], [9, 10], [11, 12]))
    recording = read_recording(tmp_path / "bag", ["a", "b"])
    assert_array_equal(recording.t, [0.0, 0.5])
    assert_array_equal(recording.q, [[2, 1], [8, 7]])
    assert_array_equal(recording.qd, [[4, 3], [10, 9]])
    assert_array_equal(recording.effort, [[6, 5], [12, 11]])


def test_folder_that_exists_is_not_written_over(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        JointStateBag(tmp_path)
