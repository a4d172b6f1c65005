# SPDX-License-Identifier: Apache-2.0
"""Handover: the node takes the arm from its trajectory controller, a hand leads it, and the controller gets it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from ros2_dyn_interfaces.srv import GiveBack, SwitchController, TakeOver
from sensor_msgs.msg import JointState

from ros2_dyn.errors import ProcessError
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.demo import Metric
from ros2_dyn_tools.demos.hand_guiding_demo import INERTIA_ERROR

DRY_FRICTION = (5.0, 5.0, 4.0, 1.0, 1.0, 1.0)
"""Of the joints, N m: the arm has it, and the node knows it. Without it mode gravity lets an arm drift for ever."""
MAX_MOTION = 20.0
"""Motion of a joint in a handover that is allowed, mrad: what the springs of the trajectory controller yield."""
NODE = "dynamics"


class ShownHandover(NamedTuple):
    """What a handover has shown."""

    to: str
    duration: float
    """From the request to the answer, simulated s."""
    motion: float
    """How far a joint went meanwhile and after it, mrad."""


class HandoverDemo(ArmDemo):
    """How far the arm moves when it changes hands, and that it is not taken while it moves."""

    mode = "handover"
    title = "handover: the arm changes hands, and stays where it is"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that for which the arm is watched after each handover."""
        arm = {"inertia_error": INERTIA_ERROR, "coulomb_friction": DRY_FRICTION}
        super().__init__(duration, pace, arm, {"friction.coulomb": DRY_FRICTION})
        self._handovers: list[ShownHandover] = []
        self._refusal = ""

    def play(self) -> None:
        """See `ArmDemo`."""
        self.runner.wait_for_message(JointState, "dynamics/gravity")
        self._refuse_while_it_moves()
        for _ in range(2):
            self.status = "The node takes the arm over from its trajectory controller."
            self._pass(TakeOver, "dynamics/take_over", NODE)
            self.arm.start_pace()
            self.status = "A hand leads the arm."
            self.enter_in_lockstep("hand_guiding")
            self.lead("tool0", np.array([0.0, 0.1, 0.05]), 2.0, hold=0.3)
            self.wait_for_rest()
            self.runner.check = lambda: None
            self.status = "The trajectory controller gets it back, and stays where it is."
            self._pass(GiveBack, "dynamics/give_back", SwitchController.Request.TRAJECTORY)

    def _refuse_while_it_moves(self) -> None:
        """Let the arm's own controller move it, and ask for it meanwhile."""
        self.status = "The arm's own controller moves it: it is not taken over."
        runner, switch, request = self.runner, "mock_arm/switch_controller", SwitchController.Request
        runner.call_checked(SwitchController, switch, controller=request.DEMO)
        runner.wait_until(lambda: bool(self.arm.states) and np.max(np.abs(self.arm.state.qd)) > 0.1, "motion")
        answer = runner.call(TakeOver, "dynamics/take_over")
        if answer.success:
            raise ProcessError(NODE, "it took over an arm that moves")
        self._refusal = answer.message
        runner.call_checked(SwitchController, switch, controller=request.TRAJECTORY)
        self.wait_for_rest()

    def _pass(self, kind: Any, service: str, to: str) -> None:
        """Hand the arm over, and watch it for a while."""
        before, begun = self.arm.state, len(self.arm.states)
        answer = self.runner.call(kind, service)
        if not answer.success or answer.held_by != to:
            raise ProcessError(NODE, f"{service}: {answer.message}; held by {answer.held_by or 'nobody'}")
        ended = self.arm.t
        self.wait_for(ended + self.duration)
        positions = np.array([state.q for state in self.arm.states[begun:]])
        motion = 1e3 * float(np.max(np.abs(positions - before.q)))
        self._handovers.append(ShownHandover(to, ended - before.t, motion))

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`."""
        yield Metric(label="taken over while it moves", key="refusal", value="refused" if self._refusal else None)
        for number, each in enumerate(self._handovers, 1):
            label = f"{number}: to {each.to}"
            yield Metric(label=label, value=each.motion, unit="mrad", full=MAX_MOTION, most=MAX_MOTION)
        for name, taken in (("taken_over", True), ("given_back", False)):
            if shown := [each for each in self._handovers if (each.to == NODE) == taken]:
                yield Metric(key=f"{name}_motion_mrad", value=max(each.motion for each in shown))
                yield Metric(key=f"{name}_s", value=max(each.duration for each in shown))
