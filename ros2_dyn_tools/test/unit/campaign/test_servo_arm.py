# SPDX-License-Identifier: Apache-2.0
"""Arms without an effort interface, judged by their motion: position servos, and motors that take currents."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime import ArmRuntime, Settings
from ros2_dyn.runtime.command_interface import CommandConversion
from ros2_dyn.runtime.inputs import JointSample, PayloadRequest, TakeOver, TimePassed
from ros2_dyn.runtime.update import LastCommand
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.arm_pool import nominal_arm
from ros2_dyn_tools.campaign.driver import DriverFault, DriverQuality
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.promise import Disturbances
from ros2_dyn_tools.campaign.record import stops
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.world import NO_PAYLOAD, World
from ros2_dyn_tools.campaign.world_options import WorldOptions
from tiers import part

STIFFNESS = 12.0
"""Of a servo, N m/rad."""
HOME = [0.0, 0.5, 0.6, 0.4, 0.0]
FAULT = 2.0
"""Time at which a fault begins, s."""
MAX_TRAVEL = 0.3
"""Travel of a joint after a stop that docs/safety.md allows, rad."""
BELIEVED_SPEED = 0.5
"""Speed of a joint up to which a wrong position may be believed, by docs/safety.md, rad/s."""


@pytest.fixture(scope="module")
def so101() -> RobotModel:
    """Return a low-cost arm of five servos."""
    try:
        return nominal_arm("so101")
    except Exception as error:
        pytest.skip(str(error))


def world(arm: RobotModel, contacts=(), home=HOME, description=None, **settings) -> World:
    """Return a world of an arm whose driver sends 200 states a second."""
    chosen = Settings.from_values({"robot.joints": arm.joint_names, "commands.require_enable": False, **settings})
    node = NodeQuality(compile_time=0.0, failsafe_start=0.0)
    options = WorldOptions(chosen, DriverQuality(200.0), node=node, step=1e-3)
    made = World(0, arm, home, options, description, contacts=contacts)
    made.targets.faults.append(lambda messages: messages[:1])  # no wrench and no pose
    return made


def servos(n: int = 5) -> dict:
    """Return the parameters of an arm of servos."""
    return {"commands.command_effort": "position_offset", "commands.effort_per_unit": (STIFFNESS,) * n}


def test_position_that_is_sent_makes_a_servo_exert_the_effort():
    """At the measured position; and a joint that has moved on is held back."""
    arm = nominal_arm("mock_arm")
    names, k = arm.joint_names[::-1], np.arange(10.0, 16.0)
    settings = Settings.from_values(
        {"robot.joints": names, "commands.command_effort": "position_offset", "commands.effort_per_unit": k.tolist()}
    )
    q, tau = np.linspace(0, 1, 6), np.linspace(-3, 3, 6)
    sent = CommandConversion(arm, settings).data(tau, q)
    assert sent is not None
    np.testing.assert_allclose(k[::-1] * (sent - q), tau)
    assert CommandConversion(arm, settings).data(tau, None) is None  # it is left where it is


def test_current_that_is_sent_is_the_effort_over_the_constant():
    arm = nominal_arm("mock_arm")
    constants = (2.0, -4.0, 1.0, 1.0, 1.0, 0.5)
    settings = Settings.from_values(
        {"robot.joints": arm.joint_names, "commands.command_effort": "current", "commands.effort_per_unit": constants}
    )
    np.testing.assert_allclose(CommandConversion(arm, settings).data(np.ones(6), np.ones(6)), 1 / np.array(constants))


@pytest.mark.parametrize("kind", ["position_offset", "current"])
def test_missing_numbers_name_the_joint_and_the_parameter(kind):
    arm = nominal_arm("mock_arm")
    with pytest.raises(InputError, match=f"'{kind}' needs it of each joint; that of 'shoulder_pan_joint' is 0"):
        CommandConversion(arm, Settings.from_values({"commands.command_effort": kind}))


def test_command_that_no_servo_is_sent_is_no_command():
    """Who takes over without a state knows no position to send: nothing leaves."""
    arm = nominal_arm("mock_arm")
    settings = Settings.from_values({"robot.joints": arm.joint_names, **servos(6)})
    runtime = ArmRuntime(arm, settings)
    taken = runtime.step(TakeOver(LastCommand(0.0, np.full(6, 3.0), np.zeros(6)), "test"), 1.0)
    assert runtime.mode == "stopped"
    updates = [taken, *(runtime.step(TimePassed(), 1.0 + 0.01 * i) for i in range(1, 5))]
    assert [update.command for update in updates] == [None] * 5


@pytest.mark.parametrize("mode", ["gravity", "hand_guiding"])
def test_low_cost_arm_of_servos_stays_where_it_is_and_gives_way_to_a_push(so101, mode):
    """Pushed with 3 N for a second it moves. Then it stays where it was left, where its servos alone would return."""
    push = AppliedForce(so101.default_tip, (0.0, 0.0, 3.0), start=3.0, duration=1.0)
    made = world(so101, [push], **servos())
    made.at(0.5, lambda: made.want_mode(mode))
    made.run(2.9)
    assert made.node.mode == mode, made.node.runtime.reason
    still = made.arm.q.copy()
    assert np.max(np.abs(still - HOME)) < 0.02
    made.run(4.0)
    made.run(7.0)
    left = np.max(np.abs(made.arm.q - still))
    assert left > 0.05
    assert made.node.mode == mode, made.node.runtime.reason
    assert np.max(np.abs(made.arm.qd)) < 0.02


def test_arm_of_servos_whose_node_is_killed_is_held_and_does_not_fall(so101):
    made = world(so101, **servos())
    made.at(0.5, lambda: made.want_mode("gravity"))
    made.run(2.0)
    before = made.arm.q.copy()
    made.node.kill()
    made.run(4.0)
    assert np.max(np.abs(made.arm.q - before)) < 0.05
    assert np.max(np.abs(made.arm.qd)) < 0.02


def test_mode_that_begins_soon_again_does_not_move_what_a_servo_was_sent(so101):
    """A push has moved the joint meanwhile, so that the servo exerts another effort than the last command."""
    made = world(so101, **servos())
    made.driver.faults.append(without_efforts)
    made.at(0.5, lambda: made.want_mode("gravity"))
    made.at(1.5, lambda: made.want_mode("monitor"))
    made.run(1.6)
    while made.node.commands:
        made.run(made.now + 0.01)
    ended, before = made.now, made.arm.q.copy()
    made.add_contact(AppliedForce(so101.default_tip, (0.0, 0.0, 3.0), start=ended, duration=1.0))
    made.at(ended + 0.3, lambda: made.want_mode("gravity"))
    made.run(ended + 0.45)
    assert np.max(np.abs(made.arm.q - before)) > 0.02
    commands = made.finish().commands
    first = int(np.searchsorted(commands.t, ended + 0.005))
    assert ended + 0.2 < commands.t[first] < ended + 0.45
    np.testing.assert_allclose(commands.data[first], commands.data[first - 1], atol=0.002)
    assert list(promises.slew_rate.check(made.finish(), Disturbances())) == []


def growing(made: World) -> DriverFault:
    """Return a fault for 0.6 s: an offset of joint 1 grows by 2 rad/s, and the velocity is the true one."""
    return lambda samples: [shifted(s, 2.0 * (made.now - FAULT), 0) if made.now < FAULT + 0.6 else s for s in samples]


def jumping(made: World) -> DriverFault:
    """Return a fault for 0.6 s: joint 1 jumps by 0.2 rad each 0.1 s."""
    return lambda samples: [
        shifted(s, 0.2 * (1 + (made.now - FAULT) // 0.1), 0) if made.now < FAULT + 0.6 else s for s in samples
    ]


def twin(made: World) -> DriverFault:
    """Return a fault for 1 s: a second driver publishes the joints of an arm that rests elsewhere."""
    elsewhere = {"position": [q + 0.3 for q in HOME], "velocity": [0.0] * len(HOME)}

    def fault(samples: list[JointSample]) -> list[JointSample]:
        other = [s._replace(stamp=s.stamp + 500_000, **elsewhere) for s in samples if made.now < FAULT + 1.0]
        return [*samples, *other]

    return fault


def shifted(sample: JointSample, by: float, joint: int | None = None) -> JointSample:
    """Return a message with a joint, or all, elsewhere by an angle, rad."""
    return sample._replace(position=[q + by * (joint in (None, i)) for i, q in enumerate(sample.position)])


@pytest.mark.parametrize(
    ("phantom", "killed_after"), part(product([growing, jumping, twin], [None, 0.0, 0.4]), 0, 1, 3, 6, 8)
)
def test_servos_do_not_follow_positions_that_are_not_believed(so101, phantom, killed_after):
    """They followed at 19 rad/s: the driver adds its fault to where the arm then is, and so on."""
    made = world(so101, **servos())
    made.at(0.5, lambda: made.want_mode("gravity"))
    made.run(FAULT)
    assert made.node.mode == "gravity", made.node.runtime.reason
    made.node.awaits_reply = True  # it is not requested again
    if killed_after is not None:  # 0.4 s later its failsafe process remembers no state that is believed
        made.at(FAULT + killed_after, made.node.kill)
    made.driver.faults.append(phantom(made))
    travel = speed = 0.0
    while made.now < FAULT + 2.0:
        made.run(made.now + 0.005)
        travel = max(travel, float(np.max(np.abs(made.arm.q - HOME))))
        speed = max(speed, float(np.max(np.abs(made.arm.qd))))
    assert travel < MAX_TRAVEL
    assert speed < BELIEVED_SPEED


def test_arm_that_takes_currents_is_carried(so101):
    made = world(
        so101, **{"commands.command_effort": "current", "commands.effort_per_unit": (1.8, -1.8, 1.8, 0.9, 0.9)}
    )
    made.at(0.5, lambda: made.want_mode("gravity"))
    made.run(4.0)
    assert made.node.mode == "gravity", made.node.runtime.reason
    assert np.max(np.abs(made.arm.q - HOME)) < 0.02
    assert np.max(np.abs(gravity(so101, made.arm.q))) > 0.1


@pytest.mark.parametrize("mass", part([0.32, 0.35], 1))
def test_stop_of_a_joint_that_its_servo_slows_down_calls_no_brakes(mass):
    """A load is declared absent, and the wrist falls. The servo damps it besides, so that springs stop it slowly."""
    arm = nominal_arm("romeo")
    load = Payload(mass, (0.0, 0.0, -0.03), link=arm.default_tip)
    servo = {
        "commands.command_effort": "position_offset",
        "commands.effort_per_unit": tuple((arm.effort_limit / 0.13).tolist()),
    }
    home = [-0.256, -0.123, -1.283, -1.113, -1.787, 0.155, 0.23]
    made = world(arm.carrying(load), home=home, description=arm, **servo)
    made.declare_payload(PayloadRequest("", tuple(load.parameters.tolist())))
    made.at(0.5, lambda: made.want_mode("gravity"))
    made.at(1.0, lambda: made.tell_payload(NO_PAYLOAD._replace(ramp_time=0.8)))
    made.run(3.5)
    assert made.node.mode == "stopped"
    assert "LWristPitch" in made.node.runtime.reason
    record = made.finish()
    assert not record.times("stop_service")
    assert stops(record) == [True]
