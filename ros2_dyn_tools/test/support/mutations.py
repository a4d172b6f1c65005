# SPDX-License-Identifier: Apache-2.0
"""Twelve deliberate faults in the code, by name: each replaces one decision while it is active.

All that is patched is named here, so that a change of the runtime is followed in this file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from ros2_dyn.control import conditions
from ros2_dyn.control.command_supervisor import BrakeInput, CommandSupervisor
from ros2_dyn.control.effort_limiter import EffortLimiter
from ros2_dyn.control.modes import Mode, feed_forward
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.failsafe_runtime import FailsafeRuntime
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.payload_ramp import PayloadRamp
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
    with _without("joint_range"), patch.object(feed_forward.FeedForward, "may_go_on", Mode.may_go_on):
        yield


def thresholds_ignored() -> AbstractContextManager[None]:
    """Let no collision stop a mode."""
    return _without("collision")


def payload_without_ramp() -> AbstractContextManager[None]:
    """Let payloads change at once."""

    def wrap(change: Any) -> Callable[..., Any]:
        return lambda self, parameters, ramp_time, now: change(self, parameters, 0.0, now)

    return _wrapped(PayloadRamp, "change", wrap)


class Mutation(NamedTuple):
    """A deliberate fault, and where it is found."""

    apply: Callable[[], AbstractContextManager[None]]
    family: str
    promises: tuple[str, ...]
    """Those that it breaks."""


MUTATIONS = {
    "no slew limit": Mutation(no_slew_limit, "right model", ("slew rate",)),
    "limit of 10 times": Mutation(limit_of_ten_times, "hand", ("effort limit",)),
    "stop that does not brake": Mutation(stop_that_does_not_brake, "hand", ("rest",)),
    "gravity's sign after a stop": Mutation(sign_of_gravity_after_a_stop, "right model", ("travel", "brakes")),
    "no enabling signal": Mutation(mode_without_enabling_signal, "right model", ("enable",)),
    "states of 0.5 s": Mutation(states_of_half_a_second, "states", ("silence",)),
    "tip not watched": Mutation(tip_not_watched, "hand", ("tip speed",)),
    "second commander not noticed": Mutation(second_commander_not_noticed, "other commander", ("other commander",)),
    "failsafe does nothing": Mutation(failsafe_that_does_nothing, "processes", ("takeover",)),
    "joint limits ignored": Mutation(joint_limits_ignored, "targets", ("position limit",)),
    "thresholds ignored": Mutation(thresholds_ignored, "collision", ("collision",)),
    "payload without ramp": Mutation(payload_without_ramp, "payload", ("payload",)),
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
