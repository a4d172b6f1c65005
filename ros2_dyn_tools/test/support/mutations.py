# SPDX-License-Identifier: Apache-2.0
"""Twenty-six deliberate faults in the code, by name: each replaces one decision while it is active.

All that is patched is named here, so that a change of the runtime is followed in this file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from ros2_dyn.control import conditions
from ros2_dyn.control.arm import Arm
from ros2_dyn.control.command_supervisor import CommandSupervisor
from ros2_dyn.control.effort_limiter import EffortLimiter
from ros2_dyn.control.model_doubt import CONTROLLER_DOES_NOT_FOLLOW, Unanswered
from ros2_dyn.control.modes import Mode, feed_forward
from ros2_dyn.control.modes.gravity import Gravity
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.control.state_plausibility import StatePlausibility
from ros2_dyn.control.stop.seen import BrakeInput
from ros2_dyn.control.unmodelled_effort import UnmodelledEffort
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.command_interface import CommandConversion
from ros2_dyn.runtime.failsafe_runtime import FailsafeRuntime
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.state_pipeline import StatePipeline
from ros2_dyn_tools.campaign.runner import play_world, world_seeds


@contextmanager
def _wrapped(owner: Any, name: str, wrap: Callable[[Any], Callable[..., Any]]) -> Iterator[None]:
    """Replace a function by what `wrap` makes of it."""
    with patch.object(owner, name, wrap(getattr(owner, name))):
        yield


def _without(name: str) -> AbstractContextManager[None]:
    """Let modes go on without one of their technical conditions."""
    gone = getattr(conditions, name)
    kept = tuple(each for each in conditions.CONDITIONS if each is not gone)
    assert len(kept) < len(conditions.CONDITIONS), f"{name} is no such condition: nothing would be mutated"
    return patch.object(conditions, "CONDITIONS", kept)


def no_slew_limit() -> AbstractContextManager[None]:
    """Let commands change at once."""

    def slew(self: EffortLimiter, effort: Any, now: float) -> Any:
        self.last = effort
        return effort

    return _wrapped(EffortLimiter, "slew", lambda _: slew)


def limit_of_ten_times() -> AbstractContextManager[None]:
    """Let efforts be ten times their limits."""

    def saturate(self: EffortLimiter, effort: Any) -> Any:
        limit = 10 * self.limits.effort
        return np.clip(np.nan_to_num(effort), -limit, limit)

    return _wrapped(EffortLimiter, "saturate", lambda _: saturate)


def _braking(change: Callable[[BrakeInput], BrakeInput]) -> AbstractContextManager[None]:
    """Let a stop be given something else that brakes and holds the arm."""

    def wrap(brake: Any) -> Callable[..., Any]:
        return lambda self, seen, given: brake(self, seen, change(given))

    return _wrapped(CommandSupervisor, "brake", wrap)


def stop_that_does_not_brake() -> AbstractContextManager[None]:
    """Let a stop compensate gravity only."""
    return _braking(lambda given: given._replace(damped=given.gravity, rate=0.0))


def sign_of_gravity_after_a_stop() -> AbstractContextManager[None]:
    """Let a stop carry the arm with the wrong sign."""
    return _braking(lambda given: given._replace(gravity=-given.gravity, damped=given.damped - 2 * given.gravity))


def mode_without_enabling_signal() -> AbstractContextManager[None]:
    """Let modes go on without the enabling signal."""
    return patch.object(conditions, "enabling_signal", lambda mode, arm: None)


def states_of_half_a_second() -> AbstractContextManager[None]:
    """Accept states that are 0.5 s old."""

    def wrap(init: Any) -> Callable[..., Any]:
        return lambda self, timeout: init(self, 0.5)

    return _wrapped(StateFreshness, "__init__", wrap)


def tip_not_watched() -> AbstractContextManager[None]:
    """Let the tip be as fast as it may."""
    return _without("tip_speed")


def second_commander_not_noticed() -> AbstractContextManager[None]:
    """Let the runtime see no other publisher of commands."""

    def wrap(step: Any) -> Callable[..., Any]:
        def seen(given: Any) -> Any:
            return given._replace(other_publishers=()) if isinstance(given, CommandLink) else given

        return lambda self, given, now: step(self, seen(given), now)

    return _wrapped(ArmRuntime, "step", wrap)


@contextmanager
def failsafe_that_does_nothing() -> Iterator[None]:
    """Let the failsafe process command nothing."""
    with (
        patch.object(FailsafeRuntime, "on_time", lambda self, signs, now: None),
        patch.object(FailsafeRuntime, "on_joint_state", lambda self, sample, now: None),
    ):
        yield


@contextmanager
def joint_limits_ignored() -> Iterator[None]:
    """Let joints go beyond their limits, and desired positions be there."""
    with _without("joint_range"), patch.object(feed_forward.FeedForward, "why_not_go_on", Mode.why_not_go_on):
        yield


def thresholds_ignored() -> AbstractContextManager[None]:
    """Let no collision stop a mode."""
    return _without("collision")


def payload_without_ramp() -> AbstractContextManager[None]:
    """Let payloads change at once."""

    def wrap(change: Any) -> Callable[..., Any]:
        return lambda self, parameters, ramp_time, now: change(self, parameters, 0.0, now)

    return _wrapped(PayloadRamp, "change", wrap)


def commands_end_where_states_do() -> AbstractContextManager[None]:
    """Let commands end at once, and not brake, where states are too old."""

    def wrap(stop: Any) -> Callable[..., Any]:
        def stopped(self: CommandSupervisor, kind: str, detail: str = "") -> None:
            (self.abort if kind == "state stale" else partial(stop, self))(kind, detail)

        return stopped

    return _wrapped(CommandSupervisor, "stop", wrap)


def nothing_carries_an_arm_that_is_not_seen() -> AbstractContextManager[None]:
    """Let commands slew to zero without states."""

    def wrap(ramp_down: Any) -> Callable[..., Any]:
        def dropped(self: CommandSupervisor, *given: float) -> Any:
            carried = self.carried
            self.carried = None if carried is None else np.zeros_like(carried)
            try:
                return ramp_down(self, *given)
            finally:
                self.carried = carried

        return dropped

    return _wrapped(CommandSupervisor, "ramp_down", wrap)


def stop_that_drives_at_first() -> AbstractContextManager[None]:
    """Let a stop drive the arm for 0.4 s, and brake then."""

    def wrap(brake: Any) -> Callable[..., Any]:
        def driven(self: CommandSupervisor, seen: Any, given: BrakeInput) -> Any:
            if self._stop._since is None or seen.now - self._stop._since < 0.4:
                given = given._replace(damped=1.5 * given.gravity - 0.5 * given.damped, rate=0.0)
            return brake(self, seen, given)

        return driven

    return _wrapped(CommandSupervisor, "brake", wrap)


def stop_that_never_fails() -> AbstractContextManager[None]:
    """Let no stop fail, whatever the arm does."""
    return patch.object(CommandSupervisor, "_escalate", lambda self, failure: None)


def efforts_that_shake() -> AbstractContextManager[None]:
    """Let modes shake a joint by a seventh of its effort, 8 times a second."""

    def wrap(follow: Any) -> Callable[..., Any]:
        def shaken(self: CommandSupervisor, effort: Any, gravity: Any, now: float, *rest: Any) -> Any:
            shake = np.zeros_like(gravity)
            shake[1] = 0.15 * self.limits.effort[1] * np.sin(2 * np.pi * 8 * now)
            return follow(self, effort + shake, gravity, now, *rest)

        return shaken

    return _wrapped(CommandSupervisor, "follow", wrap)


def joints_not_watched() -> AbstractContextManager[None]:
    """Let joints be as fast as they may in all modes."""
    return _without("joint_speed")


def braking_node_not_replaced() -> AbstractContextManager[None]:
    """Let the failsafe process replace no node that brakes or holds the arm."""

    def wrap(why: Any) -> Callable[..., str]:
        def only_of_modes(self: FailsafeRuntime, signs: Any) -> str:
            brakes = signs.command is not None and signs.command.stop.phase != "active"
            return "" if brakes else why(self, signs)

        return only_of_modes

    return _wrapped(FailsafeRuntime, "_why_take_over", wrap)


# ---- what undoes the answers to findings


@contextmanager
def servos_sent_anywhere() -> Iterator[None]:
    """Let servos be sent what is measured, believed or not, at once."""

    def data(self: CommandConversion, effort: Any, q: Any, before: Any = None, now: float = 0.0) -> Any:
        converted = effort * self._factor
        if not self._of_servos:
            return converted
        return None if q is None else np.array(q) + converted

    def judged(self: StatePipeline, state: Any, now: float, commanded: bool) -> Any:
        return judge(self, state, now, commanded)._replace(believed_q=state.q)

    judge = StatePipeline._judged
    with patch.object(CommandConversion, "data", data), patch.object(StatePipeline, "_judged", judged):
        yield


def what_held_the_arm_forgotten() -> AbstractContextManager[None]:
    """Let modes begin with the model alone."""
    return patch.object(UnmodelledEffort, "at", lambda self, q, now: np.zeros_like(self.effort))


def joints_as_fast_as_they_may() -> AbstractContextManager[None]:
    """Let no joint be slow in modes that a hand leads, and its friction be compensated at any speed."""
    return patch.object(Arm, "max_led_speed", property(lambda self: np.full_like(self.state.qd, np.inf)))


@contextmanager
def units_believed() -> Iterator[None]:
    """Let measured efforts be in another unit, and a mode begin with what they tell alone."""
    believed = patch.object(ModelDifference, "in_another_unit", property(lambda self: False))
    with believed, patch.object(Gravity, "holds_at_first", lambda self, arm: False):
        yield


def slips_forgotten() -> AbstractContextManager[None]:
    """Let no small step of an encoder add to the one before."""

    def wrap(compare: Any) -> Callable[..., Any]:
        def forget(self: StatePlausibility, i: int, *state: Any) -> str:
            self._slipped[i] = 0.0
            return compare(self, i, *state)

        return forget

    return _wrapped(StatePlausibility, "_compare", wrap)


def weak_drive_let_go() -> AbstractContextManager[None]:
    """Let commands end where the controller does not follow, though it gives a part of what is commanded."""

    def wrap(stop: Any) -> Callable[..., Any]:
        def stopped(self: CommandSupervisor, kind: str, detail: str = "") -> None:
            (self.abort if kind == CONTROLLER_DOES_NOT_FOLLOW else partial(stop, self))(kind, detail)

        return stopped

    return _wrapped(CommandSupervisor, "stop", wrap)


def stop_that_winds_up() -> AbstractContextManager[None]:
    """Let the springs of a stop work against another controller."""
    return patch.object(Unanswered, "update", lambda *_: None)


class Mutation(NamedTuple):
    """A deliberate fault, and where it is found."""

    apply: Callable[[], AbstractContextManager[None]]
    family: str
    promises: tuple[str, ...]
    """Those that it breaks."""


MUTATIONS = {
    "no slew limit": Mutation(no_slew_limit, "right model", ("slew rate",)),
    "limit of 10 times": Mutation(limit_of_ten_times, "hand", ("effort limit",)),
    "stop that does not brake": Mutation(stop_that_does_not_brake, "wrong model", ("rest",)),
    "gravity's sign after a stop": Mutation(sign_of_gravity_after_a_stop, "right model", ("travel", "brakes")),
    "no enabling signal": Mutation(mode_without_enabling_signal, "right model", ("enable",)),
    "states of 0.5 s": Mutation(states_of_half_a_second, "states", ("silence",)),
    "tip not watched": Mutation(tip_not_watched, "hand", ("tip speed",)),
    "second commander not noticed": Mutation(second_commander_not_noticed, "other commander", ("other commander",)),
    "failsafe does nothing": Mutation(failsafe_that_does_nothing, "processes", ("takeover",)),
    "joint limits ignored": Mutation(joint_limits_ignored, "targets", ("position limit",)),
    "thresholds ignored": Mutation(thresholds_ignored, "collision", ("collision",)),
    "payload without ramp": Mutation(payload_without_ramp, "payload", ("payload",)),
    "commands end where states do": Mutation(commands_end_where_states_do, "states", ("left at rest",)),
    "unseen arm not carried": Mutation(nothing_carries_an_arm_that_is_not_seen, "states", ("stopped speed", "travel")),
    "stop that drives at first": Mutation(stop_that_drives_at_first, "states", ("stopped speed", "travel")),
    "stop that never fails": Mutation(stop_that_never_fails, "wrong model", ("speeding",)),
    "efforts that shake": Mutation(efforts_that_shake, "right model", ("swings",)),
    "joints not watched": Mutation(joints_not_watched, "targets", ("velocity limit",)),
    "braking node not replaced": Mutation(braking_node_not_replaced, "processes", ("takeover",)),
    "servos sent anywhere": Mutation(servos_sent_anywhere, "states", ("servo speed", "servo range")),
    "what held forgotten": Mutation(what_held_the_arm_forgotten, "untouched", ("untouched", "tip speed")),
    "joints as fast as they may": Mutation(joints_as_fast_as_they_may, "hand", ("joint speed",)),
    "units believed": Mutation(units_believed, "untouched", ("untouched", "tip speed", "travel")),
    "slips forgotten": Mutation(slips_forgotten, "untouched", ("untouched",)),
    "weak drive let go": Mutation(weak_drive_let_go, "wrong model", ("rest",)),
    "stop that winds up": Mutation(stop_that_winds_up, "other commander", ("stopped speed", "travel")),
}
"""All deliberate faults by name."""


def faults_until_found(name: str, seed: int, most: int) -> int | None:
    """Return how many faults were played with a mutation until a promise was broken; None if none was among the most.

    Args:
        name: of the mutation.
        seed: of the campaign.
        most: number of faults to play at most.
    """
    mutation, played = MUTATIONS[name], 0
    with mutation.apply():
        for world, faults in world_seeds(seed, most, mutation.family):
            played += faults
            found = {each.promise for each in play_world(world, faults, family=mutation.family).broken}
            if found & set(mutation.promises):
                return played
    return None


if __name__ == "__main__":
    for name, mutation in MUTATIONS.items():
        found = faults_until_found(name, 1, 20_000)
        print(f"{name}: found after {found} faults in '{mutation.family}'", flush=True)
