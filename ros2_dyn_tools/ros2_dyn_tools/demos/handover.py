# SPDX-License-Identifier: Apache-2.0
"""Handover: the node takes the arm from its trajectory controller, a hand leads it, and the controller gets it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import RenderableType
from ros2_dyn_interfaces.srv import GiveBack, SwitchController, TakeOver
from sensor_msgs.msg import JointState

from ros2_dyn.errors import ProcessError
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.hand_guiding import INERTIA_ERROR
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

ROUNDS = 2
"""Number of times that the arm is taken over and given back."""
LEAD, LEAD_TIME, LEAD_HOLD = (0.0, 0.1, 0.05), 2.0, 0.3
"""How a hand leads the tip meanwhile: displacement, m, its duration and the time until the release, s."""
DRY_FRICTION = (5.0, 5.0, 4.0, 1.0, 1.0, 1.0)
"""Of the joints, N m: the arm has it, and the node knows it. Without it mode gravity lets an arm drift for ever."""
MAX_MOTION = 0.02
"""Motion of a joint in a handover that is allowed, rad: what the springs of the trajectory controller yield."""
NODE = "dynamics"


class Handover(NamedTuple):
    """What a handover has shown."""

    to: str
    duration: float
    """From the request to the answer, simulated s."""
    motion: float
    """How far a joint went meanwhile and after it, rad."""


class HandoverDemo(ArmDemo):
    """How far the arm moves when it changes hands, and that it is not taken while it moves."""

    mode = "handover"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: time for which the arm is watched after each handover, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._duration = duration
        self._handovers: list[Handover] = []
        self._refusal = ""

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        arm = {"inertia_error": INERTIA_ERROR, "coulomb_friction": DRY_FRICTION}
        return self.processes(arm, {"commands.controller_manager": "mock_arm", "friction.coulomb": DRY_FRICTION})

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        runner.simulated_time = lambda: self.arm.t
        runner.wait_for_message(JointState, "dynamics/gravity")
        self._refuse_while_it_moves(runner)
        for _ in range(ROUNDS):
            self.status = "The node takes the arm over from its trajectory controller."
            self._pass(runner, TakeOver, "dynamics/take_over", NODE)
            self.arm.start_pace()
            self.status = "A hand leads the arm."
            self._enter_in_lockstep(runner, "hand_guiding")
            self.lead(runner, "tool0", np.array(LEAD), LEAD_TIME, LEAD_HOLD)
            runner.wait_until(lambda: self.arm.at_rest, "joint_states of an arm at rest")
            runner.check = lambda: None
            self.status = "The trajectory controller gets it back, and stays where it is."
            self._pass(runner, GiveBack, "dynamics/give_back", SwitchController.Request.TRAJECTORY)
        self.status = "Done."

    def _refuse_while_it_moves(self, runner: DemoRunner) -> None:
        """Let the arm's own controller move it, and ask for it meanwhile."""
        self.status = "The arm's own controller moves it: it is not taken over."
        switch, request = "mock_arm/switch_controller", SwitchController.Request
        runner.call_checked(SwitchController, switch, controller=request.DEMO)
        runner.wait_until(lambda: bool(self.arm.states) and np.max(np.abs(self.arm.state.qd)) > 0.1, "motion")
        answer = runner.call(TakeOver, "dynamics/take_over")
        if answer.success:
            raise ProcessError(NODE, "it took over an arm that moves")
        self._refusal = answer.message
        runner.call_checked(SwitchController, switch, controller=request.TRAJECTORY)
        runner.wait_until(lambda: self.arm.at_rest, "joint_states of an arm at rest")

    def _pass(self, runner: DemoRunner, kind: Any, service: str, to: str) -> None:
        """Hand the arm over, and watch it for a while."""
        before, begun = self.arm.state, len(self.arm.states)
        answer = runner.call(kind, service)
        if not answer.success or answer.held_by != to:
            raise ProcessError(NODE, f"{service}: {answer.message}; held by {answer.held_by or 'nobody'}")
        ended = self.arm.t
        runner.wait_until(lambda: self.arm.t >= ended + self._duration, "states", simulated=2 * self._duration)
        positions = np.array([state.q for state in self.arm.states[begun:]])
        motion = float(np.max(np.abs(positions - before.q)))
        self._handovers.append(Handover(to, ended - before.t, motion))

    def table(self) -> RenderableType:
        """See `Demo`."""
        rows = [Row("taken over while it moves", "refused" if self._refusal else "", 0.0)]
        for number, each in enumerate(self._handovers, 1):
            name = f"{number}: to {each.to}"
            rows.append(Row(name, f"{1e3 * each.motion:.2f} mrad", each.motion / MAX_MOTION))
        return status_table("handover: the arm changes hands, and stays where it is", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`."""
        taken = [each for each in self._handovers if each.to == NODE]
        given = [each for each in self._handovers if each.to != NODE]
        measured: dict[str, object] = {"states": len(self.arm.states), "refusal": self._refusal}
        for name, handovers in (("taken_over", taken), ("given_back", given)):
            if handovers:
                measured[f"{name}_motion_mrad"] = 1e3 * max(each.motion for each in handovers)
                measured[f"{name}_s"] = max(each.duration for each in handovers)
        return measured

    def failure(self) -> str | None:
        """See `Demo`."""
        for each in self._handovers:
            if not each.motion <= MAX_MOTION:
                moved = f"the arm moved by {1e3 * each.motion:.1f} mrad on its way to {each.to}"
                return f"{moved}, at most {1e3 * MAX_MOTION:g} are allowed"
        return None
