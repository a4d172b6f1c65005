# SPDX-License-Identifier: Apache-2.0
"""The ramp of a payload: it waits while it is told to, and goes on without a step."""

from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD, PayloadRamp

LOAD = (2.0, *NO_PAYLOAD[1:])


def masses(ramp: PayloadRamp, *times: float) -> list[float]:
    """Return the masses at times, s; kg."""
    return [round(ramp.at(t)[0], 9) for t in times]


def test_a_ramp_that_waits_stays_where_it_is_and_goes_on_from_there():
    ramp = PayloadRamp("tool")
    ramp.change(LOAD, 1.0, 0.0)
    ramp.wait(True, 0.25)
    ramp.wait(True, 0.5)
    assert masses(ramp, 0.125, 0.25, 0.5, 9.0) == [0.25, 0.5, 0.5, 0.5]
    assert ramp.share(9.0) == 0.25
    ramp.wait(False, 9.0)
    ramp.wait(False, 9.25)
    assert masses(ramp, 8.9, 9.0, 9.5, 9.75, 20.0) == [0.5, 0.5, 1.5, 2.0, 2.0]


def test_a_payload_that_is_declared_while_a_ramp_waits_begins_from_there_when_it_goes_on():
    ramp = PayloadRamp("tool")
    ramp.change(LOAD, 1.0, 0.0)
    ramp.wait(True, 0.25)
    ramp.change(NO_PAYLOAD, 1.0, 3.0)
    assert masses(ramp, 3.0, 8.0) == [0.5, 0.5]
    ramp.wait(False, 8.0)
    assert masses(ramp, 8.0, 8.5, 9.0) == [0.5, 0.25, 0.0]


def test_waiting_changes_nothing_after_the_end_of_a_ramp():
    ramp = PayloadRamp("tool")
    ramp.change(LOAD, 1.0, 0.0)
    ramp.wait(True, 2.0)
    assert masses(ramp, 2.0, 3.0) == [2.0, 2.0]
    ramp.wait(False, 3.0)
    assert masses(ramp, 3.0, 3.5) == [2.0, 2.0]
