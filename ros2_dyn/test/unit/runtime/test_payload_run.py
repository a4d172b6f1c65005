# SPDX-License-Identifier: Apache-2.0
"""Payloads that the runtime estimates from its states, in virtual time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from driven_arms import MODEL, swing
from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime import (
    ArmRuntime,
    JointSample,
    PayloadQuestion,
    PayloadRequest,
    Reply,
    Settings,
    Update,
)
from ros2_dyn.runtime.inputs import SettingsChange, TimePassed
from runtime_rig import description

NAMES = MODEL.joint_names
BOX = Payload(2.0, (0.02, -0.03, 0.08), 0.005 * np.eye(3))
PERIOD = 20_000_000
"""Of the states, ns."""
SECONDS = 3.0


class LoadedArm:
    """Plays the states of an arm in motion that carries something."""

    def __init__(self, carries: Payload | None = BOX, **changes) -> None:
        self.runtime = ArmRuntime(description(), Settings.from_values(changes))
        self.real: RobotModel = MODEL.carrying(carries)
        self.measured: Callable[..., np.ndarray | list[float]] = lambda q, qd, qdd, tau: tau
        self.replies: list[Reply] = []
        self.i = 100_000

    @property
    def now(self) -> float:
        """Time, s."""
        return 1e-9 * PERIOD * self.i

    def play(self, seconds: float) -> None:
        """Play states for some time, s, and do the work that is asked for."""
        for _ in range(round(1e9 * seconds / PERIOD)):
            self.i += 1
            q, qd, qdd = swing(self.now)
            effort = self.measured(q, qd, qdd, rnea(self.real, q, qd, qdd))
            self.runtime.step(JointSample(self.i * PERIOD, NAMES, q.tolist(), qd.tolist(), list(effort)), self.now)
            self.take(self.runtime.step(TimePassed(), self.now))

    def take(self, update: Update) -> None:
        """Keep the replies of an update, and do its work."""
        self.replies += update.replies
        for work in update.work:
            self.take(self.runtime.step(work.run(), self.now))

    def ask(self, request: str = "request", **question) -> None:
        """Ask for an estimate."""
        self.take(self.runtime.step(PayloadQuestion(**question)._replace(request=request), self.now))

    def estimated(self, **question) -> Reply:
        """Return the reply to a request for an estimate."""
        self.ask(**({"duration": SECONDS} | question))
        self.play(SECONDS + 0.1)
        return self.replies.pop()


@pytest.fixture(scope="module")
def the_arm() -> LoadedArm:
    """Its runtime is made once."""
    return LoadedArm()


@pytest.fixture
def arm(the_arm) -> LoadedArm:
    """An arm that carries the box, and was asked nothing yet."""
    the_arm.replies.clear()
    the_arm.measured = lambda q, qd, qdd, tau: tau
    the_arm.take(the_arm.runtime.step(PayloadRequest("", (0.0,) * 10), the_arm.now))
    the_arm.replies.clear()
    return the_arm


def test_payload_is_estimated_when_the_duration_is_over_and_not_before(arm):
    arm.ask(duration=SECONDS)
    arm.play(SECONDS - 0.1)
    assert arm.replies == []
    arm.play(0.2)
    (reply,) = arm.replies
    assert reply.error is None, reply.error
    found = reply.value
    assert (found.link, found.stamp) == ("tool0", pytest.approx(1e9 * arm.now, abs=2e8))
    assert found.payload.mass == pytest.approx(BOX.mass, abs=0.1)
    assert_allclose(found.payload.com, BOX.com, atol=0.01)
    assert not found.payload.tared


def test_what_was_estimated_can_be_set_and_estimating_again_gives_the_same(arm):
    """The estimate is all that is carried, not what is carried besides the payload that is set."""
    first = arm.estimated().value.payload
    update = arm.runtime.step(PayloadRequest("", first.parameters.tolist(), 0.5), arm.now)
    assert update.replies[0].error is None
    again = arm.estimated().value.payload
    assert again.mass == pytest.approx(first.mass, abs=0.15)  # of another part of the motion


@pytest.mark.parametrize(
    ("kind", "measured"),
    [
        ("gravity_compensated", lambda q, qd, qdd, tau: tau - gravity(MODEL, q)),
        ("external", lambda q, qd, qdd, tau: rnea(MODEL, q, qd, qdd) - tau),
    ],
)
def test_efforts_without_gravity_and_external_ones_tell_the_same(kind, measured):
    arm = LoadedArm(**{"states.measured_effort": kind})
    arm.measured = measured
    found = arm.estimated().value.payload
    assert found.mass == pytest.approx(BOX.mass, abs=0.1)
    assert_allclose(found.com, BOX.com, atol=0.01)


def test_tare_takes_out_what_the_model_lacks_until_parameters_change():
    arm = LoadedArm()
    tool = Payload(0.8, (0.0, 0.0, 0.05))
    arm.real = MODEL.carrying(tool)
    reply = arm.estimated(tare=True)
    assert (reply.error, reply.value) == (None, None)
    arm.real = MODEL.carrying(tool).carrying(BOX)
    found = arm.estimated().value.payload
    assert found.tared
    assert found.mass == pytest.approx(BOX.mass, abs=0.05)
    arm.take(arm.runtime.step(SettingsChange(Settings.from_values({"commands.stop_service": "other_5"})), arm.now))
    found = arm.estimated().value.payload
    assert not found.tared
    assert found.mass == pytest.approx(BOX.mass + tool.mass, abs=0.2)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"link": "hand"}, "no link 'hand'"),
        ({"link": "base_link"}, "fixed to the base"),
        ({"duration": -1.0}, "duration: expected 0 to 300 s"),
        ({"duration": np.nan}, "duration: expected 0 to 300 s"),
        ({"duration": 1e9}, "duration: expected 0 to 300 s"),
    ],
)
def test_wrong_question_is_refused_at_once(arm, question, problem):
    arm.ask(**question)
    assert problem in str(arm.replies.pop().error)


def test_runtime_without_robot_refuses():
    (reply,) = ArmRuntime().step(PayloadQuestion(), 0.0).replies
    assert "no robot_description has been received" in str(reply.error)


@pytest.mark.parametrize("tare", [False, True])
def test_states_without_efforts_are_told(arm, tare):
    arm.measured = lambda q, qd, qdd, tau: []
    reply = arm.estimated(tare=tare)
    assert "effort: joint_states does not give an effort of all joints" in str(reply.error)


def test_silence_is_told(arm):
    arm.ask(duration=SECONDS)
    arm.play(0.2)
    arm.i += round(1e9 * SECONDS / PERIOD)
    arm.take(arm.runtime.step(TimePassed(), arm.now))
    assert "too few states came: 1 windows of 0.1 s, 5 needed" in str(arm.replies.pop().error)


def test_payload_on_another_link_is_refused_first(arm):
    arm.runtime.step(PayloadRequest("", BOX.parameters.tolist()), arm.now)
    arm.ask(link="forearm_link")
    assert "'tool0' carries a payload; remove it first" in str(arm.replies.pop().error)


def test_second_question_replaces_the_first(arm):
    arm.ask("first", duration=SECONDS)
    arm.play(1.0)
    arm.ask("second", duration=SECONDS)
    first = arm.replies.pop()
    assert first.request == "first"
    assert "another estimate was asked for meanwhile" in str(first.error)
    arm.play(SECONDS + 0.1)
    assert (arm.replies[0].request, arm.replies.pop().error) == ("second", None)


def test_question_ends_where_parameters_change_even_while_it_is_computed():
    arm = LoadedArm()
    arm.ask(duration=SECONDS)
    arm.play(1.0)
    arm.take(arm.runtime.step(SettingsChange(Settings.from_values({"commands.stop_service": "other_5"})), arm.now))
    assert "the robot or parameters changed meanwhile: ask again" in str(arm.replies.pop().error)
    arm.ask(duration=SECONDS)
    arm.play(SECONDS - 0.1)
    (work,) = arm.runtime.step(TimePassed(), arm.now + 0.2).work
    done = work.run()
    arm.runtime.step(SettingsChange(Settings.from_values({"commands.stop_service": "other_6"})), arm.now + 0.3)
    (reply,) = arm.runtime.step(done, arm.now + 0.4).replies
    assert "the robot or parameters changed meanwhile: ask again" in str(reply.error)
