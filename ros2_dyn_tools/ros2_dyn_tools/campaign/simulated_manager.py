# SPDX-License-Identifier: Apache-2.0
"""Handovers in a world: the manager of its controllers, the arm of its node, and what fails there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from ros2_dyn.control.modes import HANDOVER_MODE, MONITOR
from ros2_dyn.control.modes.base import HandoverStep
from ros2_dyn.runtime.handover import give_back, take_over
from ros2_dyn.runtime.handover_protocol import ArmView, Controller, Outcome, Refused
from ros2_dyn.runtime.inputs import HandoverInput
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY
from ros2_dyn.simulation.interpolated_trajectory import Waypoint
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.world import World

PERIOD = 0.01
"""How often a handover goes on, s."""
TIMEOUT = 2.0
"""Time within which the manager has to answer, s."""
NODE_DIED = "the node died"


class _Turn:
    """Awaits the next turn of a handover."""

    def __await__(self) -> Generator[None]:
        yield


class SimulatedManager:
    """Runs handovers of a world's node; it is the `CommandedArm` and the `Controllers` of each."""

    effort_controller = EFFORT

    def __init__(self, world: World, latency: float = 0.005) -> None:
        """Manage the controllers of a world, with answers after a time, s."""
        self.world, self.latency = world, latency
        self.outcomes: list[Outcome] = []
        """How the handovers ended."""
        self.answers = self.tells = self.switches = True
        """Whether it answers; whether it tells what it has switched; whether it switches."""
        self.effort_works = self.trajectory_works = True
        """Whether these controllers work when they have been switched on."""
        self.joints = tuple(world.options.settings.robot.joints or world.description.joint_names)
        """Joints of the node's commands, in their order."""
        self.effort_joints = self.joints
        """Joints of the effort controller, in its order."""
        self._run: Coroutine[Any, None, Outcome] | None = None

    @property
    def busy(self) -> bool:
        """Whether a handover is under way."""
        return self._run is not None

    def take_over(self) -> None:
        """Begin to take the arm over."""
        self._begin(take_over(self, self))

    def give_back(self) -> None:
        """Begin to give the arm back to the trajectory controller."""
        self._begin(give_back(self, self, (TRAJECTORY,)))

    def repair(self) -> None:
        """Let everything work again."""
        self.answers = self.tells = self.switches = self.effort_works = self.trajectory_works = True
        self.effort_joints = self.joints
        self._listen(True)

    # ---- the loop

    def _begin(self, run: Coroutine[Any, None, Outcome]) -> None:
        self._run = run
        self._tick()

    def _tick(self) -> None:
        """Let a handover go on every `PERIOD`, until it ends or its node dies."""
        if self._run is not None and self.world.node.runtime is None:
            self._run.close()
            self._end(Outcome(False, NODE_DIED, ""))
        self._go_on()
        if self._run is not None:
            self.world.queue.after(PERIOD, self._tick)

    def _go_on(self) -> None:
        """Let a handover go on to what it awaits next, unless its node hangs or is dead."""
        if self._run is None or self.world.node.state != "running":
            return
        try:
            self._run.send(None)
        except StopIteration as end:
            self._end(end.value)

    async def _until(self, condition: Callable[[], object], timeout: float = TIMEOUT) -> None:
        """Wait until a condition holds, or for a time, s."""
        deadline = self.world.now + timeout
        while not condition() and self.world.now < deadline:
            await _Turn()

    def _end(self, outcome: Outcome) -> None:
        """Take note of how a handover ended; an arm that nobody holds is braked by its node."""
        self._run = None
        self.outcomes.append(outcome)
        works = self.trajectory_works if outcome.held_by == TRAJECTORY else self.effort_works
        self.world.record("handover", *outcome, works)
        if outcome.message == NODE_DIED:
            if self.world.controllers.active == TRAJECTORY:
                self.world.wanted_mode = "monitor"
        elif not outcome.held_by:
            self.world.node.call_stop_service("nobody is known to hold the arm")

    # ---- the arm

    async def view(self, after: float = 0.0) -> ArmView:
        """Return the arm as it is after a time, s."""
        await self._until(lambda: False, after)
        runtime = self.world.node.runtime
        assert runtime is not None  # a node that dies ends its handover
        return runtime.handover_view(self.world.now)

    async def enter_gravity(self) -> None:
        """Enter mode gravity."""
        node = self.world.node
        self.world.wanted_mode = HANDOVER_MODE
        node.request_mode(HANDOVER_MODE)
        while node.awaits_reply:
            await _Turn()
        if not (await self.view()).holds:
            raise Refused("mode gravity was refused")

    def step(self, what: HandoverStep) -> None:
        """Take a step; an operator who has left the arm to others requests no mode."""
        if what == "leave":
            self.world.wanted_mode = MONITOR
        self.world.node.input(HandoverInput(what))

    # ---- the controllers

    async def _ask(self, serve: Callable[[], Any]) -> Any:
        """Return what is served after the latency, whatever becomes of the node meanwhile; None is no answer."""
        answers: list[Any] = []

        def answer() -> None:
            if (value := serve()) is not None:
                answers.append(value)
                self._go_on()

        if self.answers:
            self.world.queue.after(self.latency, answer)
        await self._until(lambda: answers)
        if not answers:
            raise Refused(f"no answer within {TIMEOUT:g} s")
        return answers[0]

    async def list(self) -> Sequence[Controller]:
        """Return the controllers."""
        found: Sequence[Controller] = await self._ask(self._controllers)
        return found

    async def switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> None:
        """Switch controllers by their names."""
        if problem := await self._ask(lambda: self._switch(EFFORT in activate)):
            raise Refused(problem)

    async def connect(self, controller: Controller) -> None:
        """Wait until a trajectory controller is there."""
        await self._ask(lambda: "")

    async def stay(self, controller: Controller, positions: Mapping[str, float], efforts: Mapping[str, float]) -> None:
        """Let a trajectory controller stay where the arm is."""
        await self._ask(lambda: self._stay(positions, efforts))

    def _controllers(self) -> tuple[Controller, ...]:
        listed = self.world.controllers.list()
        return tuple(each._replace(joints=self.effort_joints) if each.name == EFFORT else each for each in listed)

    def _switch(self, to_effort: bool) -> str | None:
        """Switch, and return why that failed; empty if it did not, None where that is not told."""
        if not self.switches:
            return "the switch is refused"
        world, arm = self.world, self.world.arm
        world.switch_controller(to_effort)
        self._listen(self.effort_works)
        if not self.trajectory_works and not to_effort:
            arm.law = HeldEffort(np.zeros(arm.model.n), arm.model.effort_limit)
        if not self.tells:
            return None
        if self.effort_works if to_effort else self.trajectory_works:
            world.record("handover", "switched")
        return ""

    def _listen(self, listens: bool) -> None:
        """Let the effort controller work, or not."""
        self.world.listening = listens

    def _stay(self, positions: Mapping[str, float], efforts: Mapping[str, float]) -> str:
        joints = self.world.arm_model.joint_names
        q = np.array([positions[name] for name in joints])
        effort = np.array([efforts.get(name, 0.0) for name in joints])
        if self.world.controllers.active == TRAJECTORY and self.trajectory_works:
            self.world.controllers.follow([Waypoint(0.002, q, np.zeros_like(q), effort)])
        return ""
