# SPDX-License-Identifier: Apache-2.0
"""A runtime in virtual time with an arm, its driver and its controller, which can do anything wrong."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf

import numpy as np

from robots import MOCK_ARM, mock_arm
from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.control.modes import MODES
from ros2_dyn.errors import FailsafeError, Ros2DynError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import (
    ArmRuntime,
    Command,
    CommandLink,
    DesiredSample,
    Event,
    JointSample,
    Reply,
    Settings,
    Step,
    Update,
    WrenchSample,
)
from ros2_dyn.runtime.command_interface import command_limits
from ros2_dyn.runtime.inputs import EnableSignal, FailsafeArmed, ModeRequest, TimePassed
from ros2_dyn.runtime.update import FailsafeConfig

URDF = MOCK_ARM.read_text(encoding="utf-8")
NAMES = mock_arm().joint_names[:3]
"""The joints of the small arm: the others are locked."""
HOME = np.array([0.3, -1.2, 1.4])
DRIVES = {
    "friction.viscous": (5.0, 5.0, 4.0),
    "friction.coulomb": (12.0, 12.0, 9.0),
    "robot.armature": (0.5, 0.5, 0.4),
    "friction.transition_velocity": 0.05,
}
SETTINGS = Settings.from_values(
    {
        "robot.joints": NAMES,
        "commands.ramp_time": 0.05,
        "feed_forward.stiffness": (200.0,) * 3,
        "feed_forward.damping": (40.0,) * 3,
        **DRIVES,
    }
)

DESCENT_MARGIN = 0.5
"""Time, s, that commands on a stale state may change besides that of the largest change at the slew rate."""


@lru_cache(maxsize=8)
def description(xml: str = URDF) -> RobotModel:
    """Return the model of a URDF, made once."""
    return RobotModel.from_urdf(xml)


SMALL_ARM = SETTINGS.apply(description())


@lru_cache(maxsize=1)
def _plant():
    return compile_kernel(SMALL_ARM, ("mass_matrix", "effort", "gravity"), "python", ("q", "qd"))


class DescentJudge:
    """Judges commands on stale states: they may only go on to the declared safe effort.

    No joint's command turns back on its way, or moves away from zero where that is the safe effort. They arrive in the
    time that the slew rate allows: then zero effort ends, and gravity compensation is only repeated, to the last digit,
    and in no active mode.
    """

    def __init__(self, limits: CommandLimits, stop_behaviour: StopBehaviour) -> None:
        self._max_time = DESCENT_MARGIN + float(np.max(2 * limits.effort / limits.slew_rate))
        self._stop_behaviour, self._n = stop_behaviour, len(limits.effort)
        self.end()

    def end(self) -> None:
        """Take notice of a command on a fresh state."""
        self._since, self._directions = inf, [0.0] * self._n

    def allows(self, effort: Sequence[float], before: Sequence[float], now: float, stopped: bool) -> bool:
        """Return whether a command may follow the one before.

        Args:
            effort: N m or N, shape (n,).
            before: the command before, N m or N, shape (n,).
            now: time, s.
            stopped: whether a stop commands, and no active mode.
        """
        self._since = min(self._since, now)
        if self._stop_behaviour == "none":
            return False
        if now - self._since > self._max_time:
            return stopped and self._stop_behaviour == "hold_gravity" and list(effort) == list(before)
        for i, (x, last) in enumerate(zip(effort, before)):
            change, direction = x - last, self._directions[i]
            if change * direction < 0 or (self._stop_behaviour == "zero_effort" and abs(x) > abs(last)):
                return False
            self._directions[i] = direction or change
        return True


class RuntimeRig:
    """Plays states of the small arm to a runtime, does the work that it asks for, and judges every command."""

    make_runtime: Callable[[RobotModel, Settings], ArmRuntime] = ArmRuntime

    def __init__(self, settings: Settings = SETTINGS, period: float = 0.008, moves: bool = True, seed: int = 0) -> None:
        """Begin in monitor, with the arm at home.

        Args:
            settings: the parameters.
            period: of the states, s.
            moves: whether commands move the arm, or it stays where it is.
            seed: of all chance.
        """
        self.settings, self.period, self.moves = settings, period, moves
        self.rng = np.random.default_rng(seed)
        self.now = 100.0
        self.delay = 0.001
        """From the measurement of a state to its arrival, s."""
        self.driver_offset = 0.0
        """Of the clock of the driver, s."""
        self.change: Callable[[JointSample], JointSample | None] = lambda sample: sample
        """What becomes of a state on its way."""
        self.targets = True
        """Whether the modes that follow a target get it."""
        self.q, self.qd = HOME.copy(), np.zeros(3)
        self.held = np.array(_plant()(self.q.tolist(), [0.0] * 3)[2])
        """What the controller holds, N m."""
        self.noise = 1e-5, 1e-3
        """Standard deviation of the noise of positions and velocities, rad and rad/s."""
        self.measured: Callable[[], np.ndarray] = lambda: self.held
        """The measured effort, N m."""
        self.link = CommandLink(topic="/controller/commands")
        self.arm_failsafe: Callable[[FailsafeConfig], Ros2DynError | None] = lambda config: None
        """How the failsafe process answers."""
        self.steps: list[Step] = []
        self.pressed = True
        """Whether the enabling button is held."""
        self.commands: list[Command] = []
        self.events: list[Event] = []
        self.replies: dict[object, Reply] = {}
        self.modes: list[str] = ["monitor"]
        self.violations: Counter[str] = Counter()
        self.examples: list[str] = []
        self.commanded = 0
        self.valid_at = -inf
        """When the newest state was measured that arrived unchanged, s."""
        self._requests = 0
        self.judged = True
        """Whether commands are judged."""
        self._history: deque[str] = deque(maxlen=6)
        self._descent = DescentJudge(command_limits(SMALL_ARM, settings.commands), settings.commands.stop_behaviour)
        self.phase = self.rng.uniform(-np.pi, np.pi, 3)
        self.start()

    def start(self) -> None:
        """Start a runtime, as a node that begins."""
        self.runtime = self.make_runtime(description(), self.settings)
        self.take(self.runtime.step(self.link._replace(failsafe_alive=False), self.now))

    # ---- what goes in

    def stamp(self, offset: float) -> int:
        """Return the time by a clock, ns."""
        return round((self.now + offset) * 1e9) + 10**18

    def sample(self, **changes) -> JointSample:
        """Return the state of this instant."""
        self._move()
        noise = self.rng.normal(size=(2, 3)) * np.reshape(self.noise, (2, 1))
        stamp = self.stamp(self.driver_offset - self.delay)
        sample = JointSample(
            stamp,
            NAMES,
            (self.q + noise[0]).tolist(),
            (self.qd + noise[1]).tolist(),
            self.measured().tolist(),
            self.stamp(0.0),
        )
        return sample._replace(**changes)

    def _move(self) -> None:
        if not self.moves:
            return
        for _ in range(2):
            M, h, _ = map(np.array, _plant()(self.q.tolist(), self.qd.tolist()))
            self.qd = self.qd + self.period / 2 * np.linalg.solve(M, self.held - h)
            self.q = self.q + self.period / 2 * self.qd

    def step(self, n: int = 1, **changes) -> Update | None:
        """Let periods pass, with a state each, targets, and all that is due; return the update of the last state."""
        update = None
        for _ in range(n):
            self.now += self.period / 2
            self.take(self.runtime.step(TimePassed(), self.now))
            self.now += self.period / 2
            sample = self.sample(**changes)
            sent = self.change(sample)
            if sent is sample and not changes:
                self.valid_at = max(self.valid_at, self.now - self.delay)  # a later one may have been measured earlier
            if self.targets:
                self._give_targets()
            if self.pressed:
                self.take(self.runtime.step(EnableSignal(True), self.now))
            update = None if sent is None else self.take(self.runtime.step(sent, self.now))
        return update

    def silence(self, seconds: float) -> None:
        """Let time pass without states, s."""
        for _ in range(round(seconds / RAMP_DOWN_PERIOD)):
            self.now += RAMP_DOWN_PERIOD
            self.take(self.runtime.step(TimePassed(), self.now))

    def _give_targets(self) -> None:
        phase = 2.0 * self.now + self.phase
        desired = DesiredSample(
            self.stamp(self.driver_offset),
            NAMES,
            (HOME + 0.1 * np.sin(phase)).tolist(),
            (0.2 * np.cos(phase)).tolist(),
            (-0.4 * np.sin(phase)).tolist(),
        )
        self.take(self.runtime.step(desired, self.now))
        wrench = WrenchSample(0, "", (*(8 * np.sin(phase)), 0.0, 0.0, 0.0))
        self.take(self.runtime.step(wrench, self.now))

    # ---- what comes out

    def take(self, update: Update) -> Update:
        """Do what an update asks for, and judge its command."""
        self.steps += update.steps
        self.events += update.events
        if update.mode != self.modes[-1]:
            self.modes.append(update.mode)
        for reply in update.replies:
            self.replies[reply.request] = reply
        for work in update.work:
            self.take(self.runtime.step(work.run(), self.now))
        if update.failsafe is not None:
            problem = self.arm_failsafe(update.failsafe)
            self.take(self.runtime.step(FailsafeArmed(update.failsafe, problem), self.now))
        if update.command is not None:
            assert self.now <= update.command.expires
            self.commands.append(update.command)
            self._judge(np.asarray(update.command.data), self.now)
        return update

    def _judge(self, effort: np.ndarray, at: float) -> None:
        stopped = self.modes[-1] not in MODES
        self.commanded += 1
        if not self.judged:
            return
        order = [NAMES.index(name) for name in self.settings.robot.joints]
        limit = self.settings.commands.effort_scale * SMALL_ARM.effort_limit[order]
        age = at - self.valid_at
        self._history.append(f"{at:.4f} s, state {1e3 * age:.1f} ms old, {self.modes[-1]}: {np.round(effort, 3)}")
        if age <= self.settings.states.timeout:
            self._descent.end()
        descends = self._descent.allows(effort.tolist(), self.held[order].tolist(), at, stopped)
        steps = np.abs(effort - self.held[order]) / (self.settings.commands.slew_rate * limit * MAX_SLEW_STEP)
        for kind, violated in (
            ("not finite", not np.all(np.isfinite(effort))),
            ("above the limit", bool(np.any(np.abs(effort) > limit * (1 + 1e-12)))),
            ("on a stale state", not (age <= self.settings.states.timeout or descends)),
            ("step above the slew limit", bool(np.any(steps > 1 + 1e-9))),
        ):
            if violated:
                self.violations[kind] += 1
                self.examples.append(f"{kind}, held {np.round(self.held, 3)}; last of\n  " + "\n  ".join(self._history))
        self.held = self.held.copy()
        self.held[order] = effort

    # ---- requests

    def request(self, mode: str) -> int:
        """Ask for a mode; return the number of the request."""
        self._requests += 1
        self.take(self.runtime.step(ModeRequest(mode, self._requests), self.now))
        return self._requests

    def set_mode(self, mode: str) -> Reply:
        """Ask for a mode that is answered at once."""
        return self.replies[self.request(mode)]

    def enter(self, mode: str) -> None:
        """Enter a mode, and play its ramp."""
        reply = self.set_mode(mode)
        assert reply.error is None, reply.error
        self.step(10)
        assert self.runtime.mode == mode, self.runtime.reason

    def refusal(self, mode: str) -> str:
        """Return why a mode is refused; check that it is, and that nothing is commanded."""
        reply, before = self.set_mode(mode), self.commanded
        assert reply.error is not None
        self.step(3)
        assert self.runtime.mode == "monitor"
        assert self.commanded == before
        return str(reply.error)

    def use_link(self, **changes) -> None:
        """Change the other side of the commands."""
        self.link = self.link._replace(**changes)
        self.take(self.runtime.step(self.link, self.now))

    def logged(self) -> list[str]:
        """Return the texts of all events that belong into a log."""
        return [event.text for event in self.events if event.logged]


def no_failsafe(config: FailsafeConfig) -> Ros2DynError:
    """Answer as a failsafe process that cannot be started."""
    return FailsafeError("it ended with status 1")
