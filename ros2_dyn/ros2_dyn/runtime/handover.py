# SPDX-License-Identifier: Apache-2.0
"""How an arm passes from another controller to this node, and back, step by step; and who holds it in the end.

`take_over` and `give_back` are coroutines that know neither ROS nor a clock: they await what the arm and the manager of
its controllers answer (`handover_protocol.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import inf

import numpy as np

from ros2_dyn.control.modes import MONITOR
from ros2_dyn.control.stop.machine import REST_DISTANCE
from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.applied_effort import STILL_TIME
from ros2_dyn.runtime.handover_protocol import ArmView, CommandedArm, Controller, Controllers, Outcome, Refused

VIEW_PERIOD = 0.02
"""Time between two views of the arm while something is awaited, s."""
SETTLED_DISTANCE = 1e-4
"""Distance within which the hold has brought it to rest, rad or m."""
MAX_MOTION = 0.02
"""Motion after a switch, rad or m, from which on nobody holds the arm."""
MAX_SETTLING = 3.0
"""Time beyond the ramps within which the arm has to settle, s."""
NODE = "dynamics"
"""Who holds the arm while a mode commands."""
UNKNOWN = "whoever held it"
"""Who holds the arm where the manager of the controllers does not answer."""


class _SwitchFailed(Refused):
    """A switch that did not take place, as far as is known."""

    def __init__(self, why: Refused, known: Sequence[Controller] | None) -> None:
        super().__init__(f"the switch failed: {why}")
        self.known = known
        """The controllers after it; None: nobody tells who is active."""


async def take_over(arm: CommandedArm, controllers: Controllers) -> Outcome:
    """Take the arm over from the controllers that command its joints, into mode gravity.

    The node commands before the switch, so that the effort controller's first message carries the arm. Afterwards a
    probe shows whether the joints obey.
    """
    try:
        known = await controllers.list()
    except Refused as refused:
        return Outcome(False, f"nothing is switched: {refused}", UNKNOWN)
    holding, others = _holding(known, arm), [each for each in _active(known, arm) if each.name != arm.effort_controller]
    others += [each for each in known if each.active and not set(each.reads).isdisjoint(_names(others))]
    try:
        controller = _fitting(known, arm)
        await _at_rest(arm, "take it over when it rests")
        before = (await _hold(arm)).q
    except Refused as refused:
        if holding != NODE:
            arm.step("leave")
        return Outcome(False, f"nothing is switched: {refused}", holding)
    if others or not controller.active:
        try:
            await _switch(controllers, () if controller.active else (controller.name,), _names(others))
        except _SwitchFailed as failed:
            if failed.known is None:  # the others hold the arm where it is, or the effort controller by these commands
                text = f"{failed}; mode gravity goes on, since nobody tells who is active"
                return Outcome(False, text, _text((*_names(others), NODE), " or "))
            arm.step("leave")
            still = [each for each in _active(failed.known, arm) if each.name != arm.effort_controller]
            return Outcome(False, str(failed), _text(_names(still)))
    arm.step("probe")
    view = await _watch(arm, before, MAX_SETTLING, lambda v: v.probe is not None or not v.holds)
    if problem := _disobedience(view, before):
        return await _switch_back(problem, arm, controllers, others)
    await _rest(arm, SETTLED_DISTANCE, MAX_SETTLING)
    arm.step("release")
    return Outcome(True, _verified(view, others), NODE, _names(others))


async def _switch_back(problem: str, arm: CommandedArm, controllers: Controllers, others: list[Controller]) -> Outcome:
    """Give the arm back to those that held it; without any, the node goes on as well as it can."""
    if not others:
        arm.step("release")
        return Outcome(False, f"{problem}; nobody else held the arm, so mode gravity goes on", NODE)
    view = await arm.view()
    try:
        await controllers.switch(_names(others), (arm.effort_controller,))
    except Refused as refused:
        return Outcome(False, f"{problem}; switching back failed, too: {refused}: brake the arm", "")
    if (moved := await _let_hold(arm, controllers, others, view)) > MAX_MOTION:
        return Outcome(False, f"{problem}; switched back, and the arm moved by {moved:.3f} rad or m: brake the arm", "")
    arm.step("leave")
    return Outcome(False, f"{problem}; switched back", _text(_names(others)))


async def give_back(arm: CommandedArm, controllers: Controllers, receivers: Sequence[str]) -> Outcome:
    """Give the arm back to other controllers, by their names, and let them stay where it is.

    The node goes on commanding until it has found that they hold the arm.
    """
    try:
        known = await controllers.list()
    except Refused as refused:
        return Outcome(False, f"nothing is switched: {refused}", UNKNOWN)
    try:
        others = _receivers(known, receivers, arm.joints)
        for each in others:
            if each.takes_trajectories:
                await controllers.connect(each)
        await _hold(arm)
        await _rest(arm, SETTLED_DISTANCE, MAX_SETTLING)
        view = await _at_rest(arm, "let go of it")
    except Refused as refused:
        arm.step("release")
        return Outcome(False, f"nothing is switched: {refused}", _holding(known, arm))
    try:
        await _switch(controllers, _names(each for each in others if not each.active), (arm.effort_controller,))
    except _SwitchFailed as failed:
        arm.step("release")
        either = _text((*_names(others), NODE), " or ")
        holding = either if failed.known is None else _holding(failed.known, arm)
        return Outcome(False, f"{failed}; mode gravity goes on", holding)
    if (moved := await _let_hold(arm, controllers, others, view)) > MAX_MOTION:
        return await _take_back(f"the arm moved by {moved:.3f} rad or m", arm, controllers, others)
    arm.step("leave")
    return Outcome(True, f"{_text(_names(others))} holds the arm", _text(_names(others)))


async def _take_back(problem: str, arm: CommandedArm, controllers: Controllers, others: list[Controller]) -> Outcome:
    """Take the arm back from those that do not hold it."""
    try:
        await controllers.switch((arm.effort_controller,), _names(others))
    except Refused as refused:
        return Outcome(False, f"{problem}; switching back failed, too: {refused}: brake the arm", "")
    try:
        if (await arm.view()).mode == MONITOR:
            await arm.enter_gravity()
    except Refused as refused:
        return Outcome(False, f"{problem}; the node cannot hold it: {refused}: brake the arm", "")
    arm.step("release")
    return Outcome(False, f"{problem}; '{arm.effort_controller}' was switched on again", NODE)


# ---- the controllers


def _names(controllers: Iterable[Controller]) -> tuple[str, ...]:
    return tuple(each.name for each in controllers)


def _text(names: Iterable[str], between: str = ", ") -> str:
    return between.join(names)


def _active(known: Sequence[Controller], arm: CommandedArm) -> list[Controller]:
    """Return the active controllers of the arm's joints."""
    return [each for each in known if each.active and set(each.joints) & set(arm.joints)]


def _holding(known: Sequence[Controller], arm: CommandedArm) -> str:
    """Return who holds the arm."""
    return _text(NODE if name == arm.effort_controller else name for name in _names(_active(known, arm)))


async def _switch(controllers: Controllers, activate: Sequence[str], deactivate: Sequence[str]) -> None:
    """Switch controllers, all or none. A switch that is not answered counts if it took place.

    Raises:
        _SwitchFailed: it did not, or nobody tells.
    """
    try:
        await controllers.switch(activate, deactivate)
    except Refused as refused:
        try:
            known = await controllers.list()
        except Refused:
            raise _SwitchFailed(refused, None) from refused
        active = {each.name for each in known if each.active}
        if not active.issuperset(activate) or not active.isdisjoint(deactivate):
            raise _SwitchFailed(refused, known) from refused


def _fitting(known: Sequence[Controller], arm: CommandedArm) -> Controller:
    """Return the effort controller, if it commands efforts of the joints in their order."""
    name, joints = arm.effort_controller, arm.joints
    found = [each for each in known if each.name == name]
    if not found:
        raise Refused(f"there is no controller '{name}', but {_text(_names(known)) or 'none'}")
    controller = found[0]
    if not controller.joints:
        raise Refused(f"controller '{name}' names no joints: configure it")
    if not controller.takes_efforts:
        raise Refused(f"controller '{name}' does not command efforts")
    if controller.joints != tuple(joints):
        raise Refused(
            f"controller '{name}' commands {_text(controller.joints)}, the node {_text(joints)}: "
            "set robot.joints to its joints in its order"
        )
    return controller


def _receivers(known: Sequence[Controller], names: Sequence[str], joints: Sequence[str]) -> list[Controller]:
    """Return the controllers that get the arm, if they command all of its joints."""
    if not names:
        raise Refused("nothing was taken over before: name the controllers that get the arm in the request")
    if missing := [name for name in names if name not in _names(known)]:
        raise Refused(f"there is no controller '{missing[0]}', but {_text(_names(known)) or 'none'}")
    receivers = [each for each in known if each.name in names]
    covered = [joint for each in receivers for joint in each.joints]
    if uncovered := [joint for joint in joints if joint not in covered]:
        commanded = f"{_text(_names(receivers))} command {_text(covered)}"
        raise Refused(f"nobody would hold '{uncovered[0]}': {commanded}")
    return receivers


async def _let_hold(
    arm: CommandedArm, controllers: Controllers, receivers: Iterable[Controller], view: ArmView
) -> float:
    """Let controllers stay where the arm is, with the efforts that hold it there; return how far it moved, rad or m."""
    for each in receivers:
        if each.takes_trajectories:
            efforts = view.command if each.takes_efforts else None
            with suppress(Refused):
                await controllers.stay(each, _of(each, view, view.told_q), _of(each, view, efforts))
    # s, for which they have to hold the arm before this node lets it go
    return _motion(await _watch(arm, view.q, 0.5), view.q)


def _of(controller: Controller, view: ArmView, values: Array | None) -> dict[str, float]:
    """Return the values of a controller's joints; none for None."""
    if values is None:
        return {}
    return {name: float(x) for name, x in zip(view.joint_names, values) if name in controller.joints}


# ---- the arm


async def _rest(arm: CommandedArm, distance: float, patience: float) -> tuple[ArmView, ArmMotion]:
    """Return a view of the arm that has rested for `STILL_TIME` within a distance, rad or m, or after a time, s."""
    motion, view, waited = ArmMotion(STILL_TIME), await arm.view(), 0.0
    motion.add(waited, view.q)
    while not motion.at_rest(distance, STILL_TIME) and waited < max(patience, STILL_TIME):
        view, waited = await arm.view(after=VIEW_PERIOD), waited + VIEW_PERIOD
        motion.add(waited, view.q)
    return view, motion


async def _at_rest(arm: CommandedArm, otherwise: str) -> ArmView:
    """Return a view of the arm that has been at rest for a while."""
    view, motion = await _rest(arm, REST_DISTANCE, 0.0)
    if motion.at_rest(REST_DISTANCE, STILL_TIME):
        return view
    if (speed := motion.speed(STILL_TIME)) is None:
        raise Refused("the robot is another one now")
    fastest = int(np.argmax(speed))
    raise Refused(f"the arm moves: '{view.joint_names[fastest]}' with {speed[fastest]:.3g} rad/s or m/s; {otherwise}")


async def _hold(arm: CommandedArm) -> ArmView:
    """Let mode gravity hold the arm where it is; return a view of it when its ramps have ended."""
    if not (await arm.view()).holds:
        await arm.enter_gravity()
    arm.step("hold")
    before = await arm.view()
    view = await _watch(arm, before.q, MAX_SETTLING, lambda v: v.settled or not v.holds)
    if not view.holds:
        raise Refused(f"mode gravity ended: {view.reason}")
    if not view.settled:
        raise Refused(f"the arm does not come to rest: it moved by {_motion(view, before.q):.3f} rad or m")
    return view


async def _watch(
    arm: CommandedArm, before: Array, patience: float, enough: Callable[[ArmView], bool] = lambda _: False
) -> ArmView:
    """Return a view when it is enough, when the arm has moved from where it was before, or after a time, s."""
    view, waited = await arm.view(), 0.0
    while _motion(view, before) <= MAX_MOTION and waited <= patience and not enough(view):
        view, waited = await arm.view(after=VIEW_PERIOD), waited + VIEW_PERIOD
    return view


def _motion(view: ArmView, before: Array) -> float:
    """Return how far a joint went, rad or m; infinite where the robot is another one now."""
    if view.q.shape != before.shape:
        return inf
    return float(np.max(np.abs(view.q - before), initial=0.0))


def _disobedience(view: ArmView, before: Array) -> str:
    """Return why the commands take no effect, or too much; empty if they do."""
    if (moved := _motion(view, before)) > MAX_MOTION:
        return f"the arm moved by {moved:.3f} rad or m after the switch"
    if not view.holds:
        return f"mode gravity ended: {view.reason}"
    found, names = view.probe, view.joint_names
    if found is None:
        return "no state came after the switch"
    for i in found.disobeying:
        answering = f"; '{names[found.answered_by[i]]}' answers instead" if i in found.answered_by else ""
        return f"the measured effort of '{names[i]}' does not follow its command{answering}"
    return ""


def _verified(view: ArmView, others: Sequence[Controller]) -> str:
    """Return what was verified, in words."""
    assert view.probe is not None
    text = f"mode gravity holds the arm instead of {_text(_names(others)) or 'nobody'}"
    coarse = [view.joint_names[i] for i in view.probe.unknown]
    if not coarse:
        return f"{text}; the measured effort of every joint follows"
    return f"{text}; no measured efforts, or too coarse ones, to see whether these follow: {_text(coarse)}"
