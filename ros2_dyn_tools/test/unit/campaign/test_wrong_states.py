# SPDX-License-Identifier: Apache-2.0
"""Drivers that tell something else than what the arm does, judged by the motion of the arm."""

import numpy as np
import pytest

from arm_world import ARM, FRICTIONLESS, HOME, ArmWorld, broken, commanded_seconds, worst
from ros2_dyn.runtime.inputs import ClockJump, JointSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.driver import DriverFault, DriverQuality
from ros2_dyn_tools.campaign.promise import Disturbances, broken_promises
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import WorldOptions
from tiers import by_turns

BEGINS = 1.0
"""Time at which a fault begins, s."""


def world(mode: str = "gravity", contacts=(), rate: float = 125.0, **settings) -> World:
    """Return a world of the mock arm in a mode from its first half second on."""
    chosen = Settings.from_values(
        {"robot.joints": ARM.joint_names, "friction.transition_velocity": 0.05, "commands.ramp_time": 0.1, **settings}
    )
    made = World(1, ARM, HOME, WorldOptions(chosen, DriverQuality(rate)), contacts=contacts)
    made.at(0.1, lambda: made.want_mode(mode))
    return made


def begin(made: World, fault: DriverFault) -> None:
    """Let a fault of the driver begin, with the mode active; it is not requested again when it ends."""
    made.run(BEGINS)
    assert made.node.mode == made.wanted_mode
    made.node.awaits_reply = True
    made.driver.faults.append(fault)


def ended(made: World) -> tuple[float, str]:
    """Return how long after the beginning of the fault the mode ended, s, and the mode's reason."""
    for t, kind, *_ in made.records:
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


def test_a_mode_ends_within_the_state_timeout_after_half_of_the_joints_were_last_measured():
    made = world(**{"states.timeout": 0.1})
    made.driver.faults.append(halves)
    begin(made, lambda samples: samples[::2])
    made.run(1.5)
    after, reason = ended(made)
    assert after < 0.1
    assert "state stale" in reason
    assert not broken(made)


def lying(change) -> DriverFault:
    """Return a fault that changes positions and velocities: arrays of shape (n,)."""

    def fault(samples: list[JointSample]) -> list[JointSample]:
        changed = []
        for sample in samples:
            q, qd = change(np.array(sample.position), np.array(sample.velocity))
            changed.append(sample._replace(position=list(q), velocity=list(qd)))
        return changed

    return fault


PUSH = AppliedForce("forearm_link", (0, 0, -150.0), start=BEGINS, duration=0.5)


@pytest.mark.parametrize(
    ("mode", "factor"),
    [("gravity", 0.0), ("gravity", -1.0), ("gravity", 0.1), ("hand_guiding", 0.0), ("hand_guiding", 0.1)],
)
def test_an_arm_is_braked_where_velocities_are_not_those_of_the_positions(mode, factor):
    """Damping by such velocities brakes nothing, and the limit of the speed sees nothing."""
    made = world(mode, contacts=[PUSH])
    begin(made, lying(lambda q, qd: (q, factor * qd)))
    speeds = []
    while made.now < BEGINS + 1.0:
        made.run(made.now + 0.01)
        speeds.append(np.abs(made.arm.qd).max())
    assert made.node.mode == "stopped"
    assert made.node.runtime.reason.startswith(("velocity implausible", "tip too fast"))
    assert max(speeds) < 1.5
    assert speeds[-1] < 0.05
    assert worst(made, "travel after a stop") < 0.3


@pytest.mark.parametrize(("rate", "lie"), by_turns([100.0, 250.0, 1000.0], [("gravity", 0.0), ("hand_guiding", 0.1)]))
def test_a_slow_arm_whose_velocities_lie_keeps_to_its_limits(rate, lie):
    """No lie below 0.5 rad/s is noticed: a tip that may move with 0.06 m/s was led at 0.5 m/s."""
    mode, factor = lie
    push = AppliedForce("forearm_link", (0, 0, -200.0), profile="ramp", start=BEGINS, duration=1.0)
    made = world(mode, contacts=[push], rate=rate, **{"commands.max_tip_speed": 0.06})
    begin(made, lying(lambda q, qd: (q, factor * qd)))
    made.run(BEGINS + 2.0)
    assert made.node.mode == "stopped"
    slow = (promises.tip_speed, promises.joint_speed)
    assert not broken_promises(slow, made.finish(), Disturbances())


@pytest.mark.parametrize(("told", "mode"), by_turns([3.0, 100.0, 1e12], ["gravity", "impedance"]))
def test_an_arm_is_not_thrown_by_one_velocity_that_is_wrong(mode, told):
    """It stops the mode; springs that went to where it leads threw the arm at up to 10 rad/s, by 3.7 rad."""
    made, count = ArmWorld(arm=FRICTIONLESS), iter(range(10**6))
    made.play(mode, 2.0)
    before = made.joint_speed(1.5)
    made.driver.faults.append(lying(lambda q, qd: (q, np.full_like(qd, told) if next(count) == 9 else qd)))
    made.run(4.0)
    assert made.modes()[-1] == "stopped"
    assert made.joint_speed(2.0) < before + 0.2
    assert made.travel(2.0) < 0.1
    assert made.joint_speed(3.0) < 0.02


def test_a_mode_ends_where_the_positions_jump():
    made = world(rate=250.0)
    begin(made, lying(lambda q, qd: (q + 0.1, qd)))
    made.run(2.0)
    after, reason = ended(made)
    assert after < 0.1
    assert "moved by 0.0999" in reason


def test_position_that_jumps_behind_a_wall_throws_no_joint_of_a_stopped_arm():
    """The wall pushed it although no position was believed: a wrist went 0.35 rad, at 2.8 rad/s."""
    made, jump = world(), np.zeros(6)
    jump[2] = ARM.upper[2] + 0.1 - HOME[2]
    made.run(0.5)
    made.wanted_mode = "stopped"
    made.node.input(ClockJump("test"))
    begin(made, lying(lambda q, qd: (q + jump, qd)))
    made.run(BEGINS + 1.0)
    assert made.node.mode == "stopped"
    assert worst(made, "joint speed") < 0.05


@pytest.mark.parametrize("by", [1.0, -1.0])
def test_positions_that_jump_while_velocities_are_doubted_throw_no_arm(by):
    """It was carried where they were, because rates replaced its velocities, and went off at up to 0.9 rad/s."""
    made, jump, speed = world(contacts=[PUSH]), np.zeros(6), 0.0
    jump[1] = by
    begin(made, lying(lambda q, qd: (q + (0.8 < made.now - BEGINS < 1.1) * jump, 0 * qd)))
    made.run(BEGINS + 0.8)
    assert made.node.mode == "stopped"
    while made.now < BEGINS + 2.0:
        made.run(made.now + 0.01)
        speed = max(speed, np.abs(made.arm.qd).max())
    assert speed < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_positions_throws_no_arm(seed):
    """Rates of noisy positions braked the arm in the place of its velocities, and threw it at up to 1 rad/s."""
    made, rng = world(), np.random.default_rng(seed)
    begin(made, lying(lambda q, qd: (q + rng.normal(0.0, 0.04, 6), qd)))
    made.run(BEGINS + 0.5)
    assert made.node.mode == "stopped"
    assert worst(made, "joint speed") < 0.05


def test_one_wrong_position_costs_one_state_and_no_mode():
    made, count = world(), iter(range(10**6))
    begin(made, lying(lambda q, qd: (q + 0.5 * (next(count) == 10), qd)))
    before = made.arm.q.copy()
    made.run(2.0)
    assert made.node.mode == "gravity"
    assert np.abs(made.arm.q - before).max() < 0.01


@pytest.mark.parametrize("unit", [1e3, 180 / np.pi])
def test_a_mode_is_refused_where_positions_are_in_another_unit(unit):
    made = world()
    made.driver.faults.append(lying(lambda q, qd: (unit * q, unit * qd)))
    made.run(1.0)
    assert made.node.mode == "monitor"
    assert "far beyond its limits" in next(record[2] for record in made.records if record[1] == "refused")


def twin(samples: list[JointSample]) -> list[JointSample]:
    """Add the states of another arm, at rest at zero."""
    zero = [0.0] * 6
    other = [s._replace(stamp=s.stamp + 10**6, position=zero, velocity=zero) for s in samples]
    return [*samples, *other]


def test_a_mode_ends_where_two_drivers_publish_the_same_joints():
    made = world()
    begin(made, twin)
    made.run(2.0)
    after, reason = ended(made)
    assert after < 0.15
    assert "moved by 1.2 rad" in reason


def test_a_mode_is_refused_where_two_drivers_publish_the_same_joints():
    made = world()
    made.driver.faults.append(twin)
    made.run(1.0)
    assert made.node.mode == "monitor"
    assert not commanded_seconds(made)


@pytest.mark.parametrize("estimated", [(), ("velocity",)])
def test_a_mode_ends_where_the_driver_freezes_amid_a_motion(estimated):
    push = AppliedForce("forearm_link", (0, 0, -150.0), start=0.8, duration=1.0)
    made = world("hand_guiding", contacts=[push], **{"states.estimate": estimated, "commands.max_tip_speed": 5.0})
    held = []

    def freeze(samples: list[JointSample]) -> list[JointSample]:
        held.extend(samples[: not held])
        kept = [] if estimated else held[0].velocity
        return [s._replace(position=held[0].position, velocity=kept) for s in samples]

    begin(made, freeze)
    made.run(2.0)
    after, reason = ended(made)
    assert after < 0.1
    assert "it repeats the same" in reason


def test_half_of_a_state_without_stamps_is_not_believed():
    made = world()
    made.driver.faults.append(halves)
    begin(made, lambda samples: [s._replace(stamp=0) if i % 2 else s for i, s in enumerate(samples)])
    made.run(2.0)
    assert ended(made)[0] < 0.1


def test_one_stamp_ahead_of_the_clock_costs_no_mode():
    made, count = world(), iter(range(10**6))
    begin(made, lambda samples: [s._replace(stamp=s.stamp + (next(count) == 10) * 9 * 10**8) for s in samples])
    made.run(2.0)
    assert made.node.mode == "gravity"


def test_stamps_that_were_ahead_of_the_clock_leave_no_arm_unseen():
    """Its states were believed when the clock had reached them: an arm fell for 10 s, at 8 rad/s, until then."""
    push = AppliedForce("forearm_link", (0, 0, -150.0), start=0.8, duration=0.5)
    made = world("hand_guiding", contacts=[push], **{"commands.max_tip_speed": 5.0})
    begin(made, lambda samples: [s._replace(stamp=s.stamp + 10**11) for s in samples])
    made.run(BEGINS + 0.2)
    assert made.node.mode == "stopped"
    made.driver.faults.clear()
    made.node.awaits_reply = False
    made.run(BEGINS + 3.0)
    assert made.node.mode == "hand_guiding"
    assert np.abs(made.arm.qd).max() < 0.05


THRESHOLDS = {"collision.threshold": (30.0,) * 3 + (15.0,) * 3, "states.timeout": 0.1}


def without_effort(samples: list[JointSample]) -> list[JointSample]:
    return [s._replace(effort=()) for s in samples]


@pytest.mark.parametrize(
    ("mode", "settings"), [("gravity", THRESHOLDS), ("hand_guiding", {"hand_guiding.assist_gain": 0.5})]
)
def test_a_mode_that_relies_on_external_efforts_ends_where_efforts_vanish(mode, settings):
    made = world(mode, **settings)
    begin(made, without_effort)
    made.run(1.5)
    after, reason = ended(made)
    assert after < 0.12
    assert "detector blind" in reason


@pytest.mark.parametrize(
    ("mode", "settings"), [("gravity", THRESHOLDS), ("hand_guiding", {"hand_guiding.assist_gain": 0.5})]
)
def test_a_mode_that_relies_on_external_efforts_is_refused_without_efforts(mode, settings):
    made = world(mode, **settings)
    made.driver.faults.append(without_effort)
    made.run(1.0)
    assert made.node.mode == "monitor"
    assert "joint_states gave no usable effort yet" in next(r[2] for r in made.records if r[1] == "refused")


@pytest.mark.parametrize(("mode", "settings"), [("gravity", {}), ("hand_guiding", THRESHOLDS)])
def test_a_mode_that_does_not_rely_on_external_efforts_goes_on_without(mode, settings):
    made = world(mode, **settings)
    begin(made, without_effort)
    made.run(1.5)
    assert made.node.mode == mode


@pytest.mark.parametrize("zeros", [1, 12])
@pytest.mark.parametrize("mode", ["gravity", "feed_forward", "impedance"])
def test_zeros_that_a_driver_tells_first_when_it_is_restarted_throw_no_arm(mode, zeros):
    """A Panda was thrown at 1.5 rad/s by one message of zeros, and at 18 rad/s by twenty-five."""
    made = world(mode)
    pauses = iter([True] * 40 + [False] * zeros)  # 0.32 s

    def restarted(samples: list[JointSample]) -> list[JointSample]:
        paused = next(pauses, None)
        none = [0.0] * len(samples[0].names)
        zero = [each._replace(position=none, velocity=none, effort=none) for each in samples]
        return samples if paused is None else [] if paused else zero

    begin(made, restarted)
    made.run(2.5)
    motion = made.finish().motion
    assert np.max(np.abs(motion.qd[motion.t > BEGINS])) < 0.3
