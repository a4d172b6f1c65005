# SPDX-License-Identifier: Apache-2.0
"""The process of a node in virtual time: its runtime, how it hangs or dies, and the failsafe process beside it."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from ros2_dyn.errors import ProcessError
from ros2_dyn.kernels.compile_aside import compiles_aside
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.failsafe_runtime import FailsafeRuntime, NodeSigns
from ros2_dyn.runtime.inputs import (
    CommandExpired,
    CommandLink,
    FailsafeArmed,
    Input,
    JointSample,
    ModeRequest,
    TimePassed,
)
from ros2_dyn.runtime.mode_entry_checks import FAILSAFE_SUFFIX
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Command, FailsafeConfig, LastCommand, Update, Work
from ros2_dyn_tools.campaign.event_queue import EventQueue

MakeRuntime = Callable[[RobotModel, Settings], ArmRuntime]
MODE_REQUEST = "mode"
FAILSAFE_NAME = "/dynamics" + FAILSAFE_SUFFIX
"""Node name of the failsafe process."""
STATE_QUEUE = 5
"""Number of joint states that wait for a node that hangs; older ones are dropped."""


@dataclass(frozen=True)
class NodeQuality:
    """Times that a process takes, s."""

    latency: float = 0.0
    """From an input to the publication of its command."""
    compile_time: float = 0.05
    """For work that the runtime asks for."""
    failsafe_start: float = 0.2
    """For a failsafe process to be armed."""
    restart_time: float = 0.3
    """From the death of the node to its next start."""


class SimulatedNode:
    """A process that drives an `ArmRuntime` as the ROS node does, and the failsafe process that survives it."""

    def __init__(
        self,
        queue: EventQueue,
        description: RobotModel,
        settings: Settings,
        *,
        publish: Callable[[str, Array, Array], None],
        record: Callable[..., None],
        quality: NodeQuality | None = None,
        make_runtime: MakeRuntime = ArmRuntime,
    ) -> None:
        """Start it in monitor.

        Args:
            queue: virtual time.
            description: the robot that the node is given.
            settings: its parameters.
            publish: takes a command: "command" or "failsafe command"; the efforts in the model's order; those in the
                controller's order.
            record: takes what happens: a kind and details.
            quality: times that the process takes.
            make_runtime: makes a runtime; called at each start of the process.
        """
        self.description, self.settings = description, settings
        self.quality = quality or NodeQuality()
        self.link = CommandLink()
        """What the node finds on the other side of its commands."""
        self.runtime: ArmRuntime | None = None
        self.state: Literal["running", "hanging", "dead"] = "dead"
        self.awaits_reply = False
        """Whether a mode was requested and the reply has not come yet."""
        self.hands_over = False
        """Whether the arm is being handed over: it refuses another handover meanwhile."""
        self.stop_calls = 0
        """Number of times that `stop_service` was called."""
        self._queue, self._publish, self._record, self._make_runtime = queue, publish, record, make_runtime
        self._process = 0
        self._mode = ""
        self._waiting: deque[tuple[bool, Callable[[], None]]] = deque()
        self._unsent: deque[Command] = deque()
        self._failsafe: FailsafeRuntime | None = None
        self._guards = self._ending = False
        self._beats = 0
        self._last: LastCommand | None = None
        self.start()

    # ---- the process

    @property
    def mode(self) -> str:
        """The mode; empty where the process is dead."""
        return self.runtime.mode if self.runtime is not None else ""

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self.runtime is not None and self.runtime.commands

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self.runtime is None:
            self._process += 1
            self._last, self.awaits_reply, self._guards = None, False, False
            self.state = "running"
            self.link = self.link._replace(failsafe_alive=True, failsafe_commands=False)
            self.runtime = self._make_runtime(self.description, self.settings)
            if compiles_aside() and self.runtime.robot is not None:
                self.runtime.robot.kernels.compile_c()
            self._record("node", "started")
            self._tell_link()

    def kill(self) -> None:
        """End the process at once. An armed failsafe process takes over, and the node is started again."""
        if self.runtime is None:
            return
        self.runtime, self.state = None, "dead"
        self._process += 1
        self._waiting.clear()
        self._unsent.clear()
        self._record("node", "killed")
        self._set_mode("")
        self._queue.after(self.quality.restart_time, self.start)

    def terminate(self) -> None:
        """End the process and the failsafe process in order, as a signal to both does."""
        self._ending = True
        self.kill()

    def hang(self) -> None:
        """Stop the process, as SIGSTOP does; inputs wait."""
        if self.state == "running":
            self.state = "hanging"
            self._record("node", "hangs")

    def resume(self) -> None:
        """Let a process that hangs go on, with the inputs that wait."""
        if self.state == "hanging":
            self.state = "running"
            self._record("node", "resumes")
            self._tell_link()  # what it was replaced by comes first
            while self._waiting and self.state == "running":
                _, action = self._waiting.popleft()
                action()

    def lose_failsafe(self) -> None:
        """End the failsafe process."""
        if self._failsafe is not None:
            self._record("failsafe", "killed")
            self._end_failsafe()

    def set_link(self, **changes: Any) -> None:
        """Change what the node finds on the other side of its commands: fields of `CommandLink`."""
        self.link = self.link._replace(**changes)
        self._tell_link()

    def _tell_link(self) -> None:
        self.input(self._seen_link())

    def _seen_link(self) -> CommandLink:
        """Return the other side of the commands; a failsafe process that commands is a second commander."""
        others = self.link.other_publishers + (FAILSAFE_NAME,) * self.failsafe_commands
        return self.link._replace(other_publishers=others)

    # ---- inputs

    def on_joint_state(self, sample: JointSample, received: Callable[[], int]) -> None:
        """Take a message of joint states.

        Args:
            sample: the message.
            received: returns the time of its arrival by the node's clock of stamps, ns.
        """

        def read() -> JointSample:
            return sample._replace(received=received())

        if self._failsafe is not None:
            self._command_failsafe(self._failsafe.on_joint_state(read(), self._queue.now))
        self._when_running(lambda: self._step(read()), is_state=True)

    def input(self, given: Input) -> None:
        """Pass an input to the runtime: at once, or when a process that hangs goes on; a dead one loses it."""
        self._when_running(lambda: self._step(given))

    def _when_running(self, action: Callable[[], None], is_state: bool = False) -> None:
        if self.state == "running":
            action()
        elif self.state == "hanging":
            self._waiting.append((is_state, action))
            states = [entry for entry in self._waiting if entry[0]]
            if len(states) > STATE_QUEUE:
                self._waiting.remove(states[0])

    def request_mode(self, mode: str) -> None:
        """Request a mode."""
        self.awaits_reply = True
        self._tell_link()
        self.input(ModeRequest(mode, MODE_REQUEST))

    def tick(self) -> None:
        """Let time pass; to be called every `RAMP_DOWN_PERIOD`."""
        if self.state == "running":
            self._beats += 1
            self._step(TimePassed())
        self._watch()

    def _step(self, given: Input) -> None:
        assert self.runtime is not None
        try:
            update = self.runtime.step(given, self._queue.now)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._record("crash", f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})")
            self.kill()
            return
        self._handle(update)

    # ---- updates

    def _handle(self, update: Update) -> None:
        for event in update.events:
            if event.logged:
                self._record("event", event.kind, event.text)
        self._set_mode(update.mode)
        if update.stop_failed:
            self.call_stop_service()
        if update.command is not None:
            self._unsent.append(update.command)
            self._later(self.quality.latency, self._send, update.command)
        if not update.commands:
            self._last = None
        for reply in update.replies:
            self.awaits_reply = self.awaits_reply and reply.request != MODE_REQUEST
            if reply.error is not None:
                self._record("refused", str(reply.error))
        for work in update.work:
            self._later(self.quality.compile_time, self._finish, work)
        if update.failsafe is not None:
            self._later(self.quality.failsafe_start, self._arm, update.failsafe)

    def call_stop_service(self, *why: str) -> None:
        """Let the robot's brakes have the arm, after a stop that failed or for another reason."""
        self.stop_calls += 1
        self._record("stop_service", *why)

    def _later(self, delay: float, action: Callable[[Any], None], argument: Any) -> None:
        """Go on after a delay, s, if the process still lives then; at once without one."""
        process = self._process

        def go_on() -> None:
            if self._process != process:
                return
            if self.state == "hanging":
                self._waiting.append((False, lambda: action(argument)))
            else:
                action(argument)

        if delay > 0:
            self._queue.after(delay, go_on)
        else:
            go_on()

    def _send(self, command: Command) -> None:
        if not self._unsent or self._unsent[0] is not command:
            return  # it follows one that expired
        if self._queue.now >= command.expires:
            self._withdraw()
            return
        self._unsent.popleft()
        if self.link.failsafe_commands:
            self._step(self._seen_link())
            return
        if self.commands:
            self._last = command.as_last(self._queue.now)
            self._beats += 1
        self._publish("command", command.effort, command.data)

    def _withdraw(self) -> None:
        """Withdraw the commands that were not published: the oldest has expired, and the others follow it."""
        while self._unsent:
            self._unsent.popleft()
            self._record("expired")
            self._step(CommandExpired())

    def _finish(self, work: Work) -> None:
        self._step(work.run())

    def _arm(self, config: FailsafeConfig) -> None:
        problem = None
        if self.link.subscribers == 0:
            problem = ProcessError("failsafe", f"it found no subscriber on {self.link.topic}")
        elif self.failsafe_commands:
            problem = ProcessError("failsafe", "the one before has taken over meanwhile")
        else:
            self._failsafe, self._guards, self._ending = FailsafeRuntime(config), True, False
            self.link = self.link._replace(failsafe_alive=True, failsafe_commands=False)
        self._step(FailsafeArmed(config, problem))

    def _set_mode(self, mode: str) -> None:
        if mode != self._mode:
            self._mode = mode
            reason = self.runtime.reason if self.runtime is not None else ""
            self._record("mode", mode, reason)

    # ---- the failsafe process

    @property
    def failsafe_commands(self) -> bool:
        """Whether the failsafe process has taken over."""
        return self._failsafe is not None and self._failsafe.taken_over

    @property
    def failsafe_took_over_at(self) -> float:
        """Time at which the failsafe process took over, s."""
        return self._failsafe.taken_at if self._failsafe is not None else inf

    def release(self) -> None:
        """Ask a failsafe process that has taken over to end its commands."""
        if self._failsafe is not None:
            self._failsafe.release(self._queue.now)

    def _watch(self) -> None:
        """Let the failsafe process look at the node that it guards."""
        failsafe = self._failsafe
        if failsafe is None:
            return
        taken_over = failsafe.taken_over
        signs = NodeSigns(self._guards and self.runtime is not None, self._beats, self._last, self._ending)
        self._command_failsafe(failsafe.on_time(signs, self._queue.now))
        if failsafe.taken_over and not taken_over:
            self._record("failsafe", "takes over", failsafe.reason)
            self.link = self.link._replace(failsafe_commands=True)  # which the node sees before it publishes
        if failsafe.ended:
            self._record("failsafe", "ends")
            self._end_failsafe()

    def _end_failsafe(self) -> None:
        self._failsafe = None
        self.set_link(failsafe_alive=not self._guards)  # that it took over is known until another one is armed

    def _command_failsafe(self, update: Update | None) -> None:
        if update is not None and update.stop_failed:
            self.call_stop_service()
        if update is not None and update.command is not None:
            self._publish("failsafe command", update.command.effort, update.command.data)
