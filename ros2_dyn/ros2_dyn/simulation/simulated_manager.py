# SPDX-License-Identifier: Apache-2.0
"""The manager of the controllers of a world: handovers between them and the node, and what fails there."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ros2_dyn.runtime.handover import give_back, take_over
from ros2_dyn.runtime.handover_protocol import (
    ArmView,
    Ask,
    Controller,
    EnterMode,
    ListControllers,
    Outcome,
    Procedure,
    Stay,
    Step,
    SwitchControllers,
)
from ros2_dyn.runtime.handover_run import HandoverRun
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY
from ros2_dyn.simulation.interpolated_trajectory import Waypoint
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn.simulation.world import World

PERIOD = 0.01
"""How often a handover goes on, s."""
TIMEOUT = 2.0
"""Time within which the manager has to answer, s."""
STAY_TIME = 0.002
"""Time of the point at which a trajectory controller stays, s."""
NODE_DIED = "the node died"


class SimulatedManager:
    """Lists and switches the two controllers of a world, and runs handovers of its node."""

    def __init__(self, world: World, latency: float = 0.005) -> None:
        """Manage the controllers of a world, with answers after a time, s."""
        self.world, self.latency = world, latency
        self.outcomes: list[Outcome] = []
        """How the handovers ended."""
        self.answers = self.tells = self.switches = True
        """Whether it hears; whether it tells what it has switched; whether it switches."""
        self.effort_works = self.trajectory_works = True
        """Whether these controllers work when they have been switched on."""
        self.node_joints = tuple(world.options.settings.command_joints or world.description.joint_names)
        self.effort_joints = self.node_joints
        """Joints of the effort controller, in its order."""
        self._run: HandoverRun | None = None

    @property
    def busy(self) -> bool:
        """Whether a handover is under way."""
        return self._run is not None

    def take_over(self) -> None:
        """Begin to take the arm over."""
        self._begin(take_over(EFFORT, self.node_joints))

    def give_back(self) -> None:
        """Begin to give the arm back to the trajectory controller."""
        self._begin(give_back(EFFORT, (TRAJECTORY,), self.node_joints))

    def repair(self) -> None:
        """Let everything work again."""
        self.answers = self.tells = self.switches = self.effort_works = self.trajectory_works = True
        self.effort_joints = self.node_joints
        self._listen(True)

    def _begin(self, procedure: Procedure) -> None:
        self._run = HandoverRun(procedure, self._ask, self._see, TIMEOUT)
        self._tick()

    def _tick(self) -> None:
        run, node = self._run, self.world.node
        if run is None:
            return
        if node.runtime is None:
            run.outcome = Outcome(False, NODE_DIED, "")
        if node.state != "hanging":
            run.on_time(self.world.now)
        if run.outcome is not None:
            self._end(run.outcome)
        else:
            self.world.queue.after(PERIOD, self._tick)

    def _end(self, outcome: Outcome) -> None:
        """Take note of how a handover ended; an arm that nobody holds is braked by its node."""
        self._run = None
        self.outcomes.append(outcome)
        self.world.record("handover", *outcome)
        if outcome.held_by == TRAJECTORY and self.trajectory_works:
            self.world.motion_judge.handover.on_end(self.world.now)
        if outcome.message == NODE_DIED:
            if self.world.controllers.active == TRAJECTORY:
                self.world.wanted_mode = "monitor"
        elif not outcome.held_by:
            self.world.node.call_stop_service("nobody is known to hold the arm")

    def _see(self) -> ArmView:
        runtime = self.world.node.runtime
        assert runtime is not None  # a node that dies ends its handover
        return runtime.handover_view(self.world.now)

    # ---- what a handover asks for

    def _ask(self, asked: Ask) -> None:
        if isinstance(asked, EnterMode):
            self._enter(asked)
        elif isinstance(asked, Step):
            self.world.node.input(lambda runtime, now: runtime.on_handover(asked.what, now))
            self._answer(asked, None)
        elif self.answers:
            self.world.queue.after(self.latency, partial(self._serve, asked))

    def _answer(self, asked: Ask, value: Any) -> None:
        if self._run is not None:
            self._run.answer(asked, value, self.world.now)

    def _enter(self, asked: EnterMode) -> None:
        """Request a mode, and pass on the reply when it comes."""
        world = self.world
        world.wanted_mode = asked.mode

        def look() -> None:
            if world.node.awaits_reply:
                world.queue.after(PERIOD, look)
            else:
                entered = world.node.mode == asked.mode
                self._answer(asked, "" if entered else f"mode {asked.mode} was refused")

        world.node.request_mode(asked.mode)
        look()

    def _serve(self, asked: Ask) -> None:
        if isinstance(asked, ListControllers):
            self._answer(asked, self._controllers())
        elif isinstance(asked, SwitchControllers):
            self._switch(asked)
        elif isinstance(asked, Stay):
            if asked.positions:
                self._stay(asked)
            self._answer(asked, "")

    def _controllers(self) -> tuple[Controller, ...]:
        listed = self.world.controllers.list()
        return tuple(each._replace(joints=self.effort_joints) if each.name == EFFORT else each for each in listed)

    def _switch(self, asked: SwitchControllers) -> None:
        if not self.switches:
            self._answer(asked, "the switch is refused")
            return
        world, arm = self.world, self.world.arm
        to_effort = EFFORT in asked.activate
        world.switch_controller(to_effort)
        self._listen(self.effort_works)
        if not self.trajectory_works and not to_effort:
            arm.law = HeldEffort(np.zeros(arm.model.n), arm.model.effort_limit)
        if not self.tells:
            return
        if self.effort_works if to_effort else self.trajectory_works:
            world.motion_judge.handover.on_switch(world.now, arm.q, arm.qd)
        self._answer(asked, "")

    def _listen(self, listens: bool) -> None:
        """Let the effort controller work, or not."""
        if listens != self.world.listening:
            self.world.motion_judge.suspend("dead controller", not listens)
        self.world.listening = listens

    def _stay(self, asked: Stay) -> None:
        joints = self.world.arm_model.joint_names
        q = np.array([asked.positions[name] for name in joints])
        effort = np.array([asked.efforts.get(name, 0.0) for name in joints])
        if self.world.controllers.active == TRAJECTORY and self.trajectory_works:
            self.world.controllers.follow([Waypoint(STAY_TIME, q, np.zeros_like(q), effort)])
