# SPDX-License-Identifier: Apache-2.0
"""The heartbeat of a process as another one watches it: when it is held up, and when it is only late."""

import pytest

from ros2_dyn.runtime.heartbeat import Heartbeat


def test_heart_counts_a_long_pause_of_the_watcher_as_one_look():
    heart = Heartbeat(0.1)
    heart.look(1, 1.0)
    heart.look(1, 5.0)
    assert heart.silence == 0.02
    assert not heart.held_up
    for k in range(1, 10):
        heart.look(1, 5.0 + 0.01 * k, 50.0 + 0.001 * k)  # a simulation that is faster than real time
    assert heart.silence == pytest.approx(0.02 + 0.029, abs=0.02)


def longest_silence(on: int, off: int, seconds: float = 3.0, state_timeout: float = 0.3) -> float:
    """Of a process that works for some looks, and then gets no processor for some, s; inf where it is held up."""
    heart, beats, longest = Heartbeat(state_timeout), 0, 0.0
    for k in range(int(100 * seconds)):
        beats += k % (on + off) < on
        heart.look(beats, 1.0 + 0.01 * k)
        longest = max(longest, heart.silence)
    return float("inf") if longest > heart.timeout else longest


def test_process_that_works_now_and_then_is_held_up():
    """Each silence is shorter than the 0.24 s that are allowed; the arm has the same command for 23 of 24 parts."""
    assert longest_silence(on=1, off=22) == float("inf")
    assert longest_silence(on=2, off=20) == float("inf")


def test_process_that_is_late_and_works_again_is_not_held_up():
    assert longest_silence(on=1, off=12) < 0.15
    assert longest_silence(on=6, off=18) < 0.2  # it works as long as the silence was too long
    assert longest_silence(on=1, off=1) < 0.02
    assert longest_silence(on=1, off=7, state_timeout=0.1) < 0.08


def test_clock_that_is_set_back_is_no_silence():
    heart = Heartbeat(0.1)
    heart.look(1, 100.0)
    heart.look(2, 1.0)
    assert heart.silence == 0.0


def test_silence_of_a_process_that_has_nothing_to_command_does_not_count():
    heart = Heartbeat(1.0)
    for k in range(300):
        heart.look(0, 0.01 * k)
        heart.forget()
    for k in range(300, 370):
        heart.look(1 if k < 302 else 2, 0.01 * k)
        assert not heart.held_up
