"""Drivers that tell something else than what the arm does, judged by the motion of the arm."""

import numpy as np
import pytest

from robots import mock_arm
from ros2_dyn.runtime.samples import JointSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.driver import DriverFault, DriverQuality
from ros2_dyn.simulation.perturbed import with_armature, with_friction
from ros2_dyn.simulation.world import World, WorldOptions

HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
ARM = with_armature(
    with_friction(mock_arm(), [5.0, 5.0, 4.0, 1.0, 1.0, 1.0], [12.0, 12.0, 9.0, 2.4, 2.4, 2.4]),
    [0.5, 0.5, 0.4, 0.1, 0.1, 0.1],
)
BEGINS = 1.0
"""Time at which a fault begins, s."""


def world(mode: str = "gravity", contacts=(), **settings) -> World:
    """Return a world of the mock arm in a mode from its first half second on."""
    chosen = Settings(joints=ARM.joint_names, transition_velocity=0.05, ramp_time=0.1, **settings)
    made = World(1, ARM, HOME, WorldOptions(chosen, DriverQuality(250.0)), contacts=contacts)
    made.at(0.1, lambda: made.want_mode(mode))
    return made


def begin(made: World, fault: DriverFault) -> None:
    """Let a fault of the driver begin, with the mode active; it is not requested again when it ends."""
    made.run(BEGINS)
    assert made.node.mode == made.wanted_mode
    made.wanted_mode = "monitor"
    made.driver.faults.append(fault)


def ended(made: World) -> tuple[float, str]:
    """Return how long after the beginning of the fault the mode ended, s, and the mode's reason."""
    for t, kind, *details in made.records:
        if kind == "mode" and 1e-9 * t >= BEGINS:
            return 1e-9 * t - BEGINS, made.node.runtime.reason
    return np.inf, ""


def part(sample: JointSample, joints: slice) -> JointSample:
    """Return a message with some of the joints."""
    lists = (sample.names, sample.position, sample.velocity, sample.effort)
    return JointSample(sample.stamp, *(x[joints] for x in lists))


def halves(samples: list[JointSample]) -> list[JointSample]:
    return [part(sample, joints) for sample in samples for joints in (slice(0, 3), slice(3, 6))]


def test_a_driver_that_only_ever_sends_parts_is_commanded():
    made = world()
    made.driver.faults.append(halves)
    made.run(1.0)
    assert made.node.mode == "gravity"
    assert np.abs(made.arm.qd).max() < 0.05


@pytest.mark.parametrize("merge_timeout", [0.1, 10.0])
def test_a_mode_ends_within_the_state_timeout_after_half_of_the_joints_were_last_measured(merge_timeout):
    made = world(merge_timeout=merge_timeout, state_timeout=0.1)
    made.driver.faults.append(halves)
    begin(made, lambda samples: samples[::2])
    made.run(1.5)
    after, reason = ended(made)
    assert after < 0.1
    assert "state stale" in reason
    assert not made.violations
