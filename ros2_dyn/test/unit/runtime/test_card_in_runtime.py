# SPDX-License-Identifier: Apache-2.0
"""Robot cards in the runtime: what they change of every description, and what one that does not fit prevents."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm
from ros2_dyn.dynamics import friction, gravity, rnea
from ros2_dyn.estimation.filters import LowPass
from ros2_dyn.estimation.momentum_observer import MomentumObserver
from ros2_dyn.model import EffortFilter, JointDynamics, RobotCard
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.runtime import ArmRuntime, CommandLink, JointSample, Settings, run_work
from runtime_rig import DRIVES, NAMES, SETTINGS, URDF, RuntimeRig, description

Q, QD, NOW = [0.3, -1.2, 1.4], [0.2, -0.1, 0.4], 100.0
JOINTS = Settings.from_values({"robot.joints": NAMES})
IDENTIFIED = (
    mock_arm()
    .with_inertia([SpatialInertia.from_parameters(1.3 * I.parameters) for I in mock_arm().inertia])
    .with_joint_dynamics({name: JointDynamics(5.0, 12.0, transition_velocity=0.05, armature=0.5) for name in NAMES})
)
GAINS = dict(zip(mock_arm().joint_names, (10.0, 11.0, 12.0, 13.0, 14.0, 15.0)))
CARD = RobotCard.of(IDENTIFIED, mock_arm(), effort_gain=GAINS)
SMALL = IDENTIFIED.reduced(NAMES)
MISFIT = replace(CARD, kinematics=CARD.kinematics | {"forearm_link": "00000000"})


def state(stamp: int = 1, effort=()) -> JointSample:
    return JointSample(stamp, NAMES, Q, QD, list(effort))


def described(card, settings=JOINTS) -> ArmRuntime:
    """Return a runtime that has the description as text."""
    runtime = ArmRuntime(None, settings, card)
    run_work(runtime, runtime.use_description(URDF, NOW), NOW)
    return runtime


@pytest.mark.parametrize(
    "make", [described, lambda card: ArmRuntime(description(), JOINTS, card)], ids=["as text", "as a model"]
)
def test_terms_are_those_of_the_identified_arm(make):
    (step,) = make(CARD).on_joint_state(state(), NOW).steps
    assert_allclose(step.terms.gravity, gravity(SMALL, Q), rtol=1e-5, atol=1e-4)
    assert_allclose(step.terms.friction, friction(SMALL, QD), rtol=1e-5)
    assert abs(step.terms.gravity[1] - gravity(mock_arm().reduced(NAMES), Q)[1]) > 1


def test_card_stays_when_joints_are_locked_and_released():
    runtime = described(CARD, Settings.from_values({"robot.joints": NAMES[:2]}))
    run_work(runtime, runtime.change_settings(JOINTS, NOW), NOW)
    (step,) = runtime.on_joint_state(state(), NOW).steps
    assert_allclose(step.terms.gravity, gravity(SMALL, Q), rtol=1e-5, atol=1e-4)


def test_parameters_that_are_set_replace_those_of_the_card():
    runtime = described(
        CARD,
        Settings.from_values(
            {"robot.joints": NAMES, "robot.viscous_friction": (1.0, 2.0, 3.0), "robot.transition_velocity": 1.0}
        ),
    )
    dynamics = [each.dynamics for each in runtime.robot.model.joints]
    assert [each.viscous for each in dynamics] == [1.0, 2.0, 3.0]
    assert [(each.coulomb, each.armature, each.transition_velocity) for each in dynamics] == [(12.0, 0.5, 0.05)] * 3


def test_measured_efforts_are_in_the_cards_unit_unless_a_parameter_says_otherwise():
    effort = rnea(SMALL, Q, QD, np.zeros(3)) + friction(SMALL, QD)
    current = effort / [GAINS[name] for name in NAMES]
    (step,) = described(CARD).on_joint_state(state(effort=current), NOW).steps
    assert_allclose(step.state.effort, effort)
    assert_allclose(step.collision.residual, 0, atol=1e-3)
    (step,) = (
        described(CARD, Settings.from_values({"robot.joints": NAMES, "states.effort_gain": (1.0, 2.0, 3.0)}))
        .on_joint_state(state(effort=current), NOW)
        .steps
    )
    assert_allclose(step.state.effort, current * [1, 2, 3])


def test_gravity_of_the_card_is_told_and_not_taken():
    tilted = replace(CARD, gravity=(0.171, 0.0, -9.8085))  # 1 degree
    runtime = described(tilted)
    (warning,) = (each for each in runtime.warnings if "gravity" in each)
    assert "the card found [0.171, 0.0, -9.8085], 1 degrees off" in warning
    (step,) = runtime.on_joint_state(state(), NOW).steps
    assert_allclose(step.terms.gravity, gravity(SMALL, Q), rtol=1e-5, atol=1e-4)
    taken = described(tilted, Settings.from_values({"robot.joints": NAMES, "robot.gravity": tilted.gravity}))
    assert not [each for each in taken.warnings if "gravity" in each]
    assert not [each for each in described(replace(CARD, gravity=(0.0, 0.0, -9.8066))).warnings if "gravity" in each]


def rig(card) -> RuntimeRig:
    """Return a rig whose friction is in the card alone."""
    made = RuntimeRig(
        SETTINGS.with_values({"robot.viscous_friction": (), "robot.coulomb_friction": (), "robot.armature": ()})
    )
    made.runtime = ArmRuntime(description(), made.settings, card)
    made.take(made.runtime.on_command_link(made.link._replace(failsafe_alive=False), made.now))
    made.step(100)
    return made


def test_mode_is_entered_with_a_card_that_fits_and_refused_with_one_that_does_not():
    numbers = zip(NAMES, *(DRIVES[f"robot.{each}"] for each in ("viscous_friction", "coulomb_friction", "armature")))
    drives = {name: JointDynamics(v, c, transition_velocity=0.05, armature=a) for name, v, c, a in numbers}
    card = RobotCard.of(mock_arm().with_joint_dynamics(drives), mock_arm())
    rig(card).enter("gravity")
    wrong = rig(replace(card, kinematics=MISFIT.kinematics))
    assert any("link 'forearm_link'" in each for each in wrong.runtime.warnings)  # as diagnostics have it
    told = wrong.refusal("gravity")
    assert "the robot description is wrong: link 'forearm_link': its frame or its joint is not the one" in told
    assert "correct or remove the robot card" in told


def test_card_that_does_not_fit_changes_nothing_of_what_is_computed():
    (step,) = described(MISFIT).on_joint_state(state(effort=Q), NOW).steps
    assert_allclose(step.terms.gravity, gravity(mock_arm().reduced(NAMES), Q), atol=1e-9)
    assert_allclose(step.state.effort, Q)


def test_black_box_replays_a_runtime_with_a_card():
    pytest.importorskip("mcap", reason="mcap is not installed")
    from ros2_dyn.runtime.black_box import BlackBox, RecordingRuntime
    from ros2_dyn.runtime.decision_record import replay

    runtime = RecordingRuntime(None, JOINTS, BlackBox(2.0), CARD)
    runtime.on_command_link(CommandLink(topic="/commands"), NOW)
    run_work(runtime, runtime.use_description(URDF, NOW), NOW)
    for i in range(20):
        runtime.on_joint_state(state(i + 1, Q), NOW + 0.01 * i)
    replayed = list(replay(runtime.box.take("asked", NOW + 1)))
    assert len(replayed) > 20
    assert all(each.same for each in replayed)


@pytest.mark.parametrize(
    ("card", "parameter", "cutoff"),
    [
        (CARD, 0.0, inf),
        (CARD, 3.0, 3.0),
        (replace(CARD, effort_filter=EffortFilter("first_order", 2.0)), 0.0, 2.0),
        (replace(CARD, effort_filter=EffortFilter("first_order", 2.0)), 3.0, 3.0),
        (replace(CARD, effort_filter=EffortFilter("zero_phase", 2.0)), 3.0, 3.0),
    ],
)
def test_observer_knows_the_drivers_filter_from_the_parameter_or_else_the_card(card, parameter, cutoff):
    runtime = described(card, Settings.from_values({"robot.joints": NAMES, "states.effort_filter_cutoff": parameter}))
    assert runtime.robot.effort_cutoff == cutoff
    assert not [finding for finding in runtime.robot.findings if finding.code == "card_effort_filter"]
    made, driver = MomentumObserver(25.0, cutoff), LowPass(cutoff)
    for k in range(1, 20):
        q, qd, effort = Q, [0.1 * k, 0.0, 0.0], driver.update(0.01 * k, [30.0 + k, 20.0, -5.0])
        current = [tau / GAINS[name] for tau, name in zip(effort, NAMES)]
        (step,) = runtime.on_joint_state(JointSample(k * 10_000_000, NAMES, q, qd, current), NOW).steps
        terms = step.terms
        made.observe(0.01 * k, effort, terms.momentum, terms.coriolis_transpose_qd, terms.gravity, terms.friction)
        assert_allclose(step.collision.residual, made.value, rtol=1e-9, atol=1e-9)


def test_filter_that_looks_ahead_is_not_taken_and_told():
    runtime = described(replace(CARD, effort_filter=EffortFilter("zero_phase", 2.0)))
    assert runtime.robot.effort_cutoff == inf
    (finding,) = (each for each in runtime.robot.findings if each.code == "card_effort_filter")
    assert "effort_filter_cutoff" in finding.advice
