# SPDX-License-Identifier: Apache-2.0
"""How an arm passes from another controller to this node, and back: what is asked for, step by step, and who holds it.

Each procedure is a generator. It yields what it asks for and is sent the answer, so that it knows neither ROS nor a
clock. `HandoverRun` steps through it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from math import inf
from typing import Any

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.handover_protocol import (
    ArmView,
    Ask,
    Controller,
    EnterMode,
    ListControllers,
    Look,
    NoAnswer,
    Outcome,
    Procedure,
    Stay,
    Step,
    SwitchControllers,
)

LOOK_PERIOD = 0.02
"""Time between two looks at the arm while something is awaited, s."""
REST_TIME = 0.1
"""Time for which the arm has to stand still, s."""
REST_DISTANCE = 1e-3
"""Distance within which it stands still, rad or m."""
SETTLED_DISTANCE = 1e-4
"""Distance within which the hold has brought it to rest, rad or m, in the same time."""
MAX_MOTION = 0.02
"""Motion after a switch, rad or m, from which on nobody holds the arm."""
MAX_SETTLING = 3.0
"""Time beyond the ramps within which the arm has to settle, s."""
WATCH_TIME = 0.5
"""Time for which the other controller has to hold the arm before this node lets it go, s."""
NODE = "dynamics"
"""Who holds the arm while a mode commands."""
UNTOLD = "whoever held it"
"""Who holds the arm where the manager of the controllers does not answer."""

Part = Generator[Ask, Any, Any]


class Refused(Exception):
    """A handover that was given up before anything changed hands."""


def take_over(effort_controller: str, joints: Sequence[str]) -> Procedure:
    """Take the arm over from the controllers that command its joints, into mode gravity.

    The node commands before the switch, so that the effort controller's first message carries the arm. Afterwards a
    probe shows whether the joints obey.

    Args:
        effort_controller: name of the controller that takes the node's commands.
        joints: joints of the commands, in their order.
    """
    known = yield ListControllers()
    if isinstance(known, NoAnswer):
        return Outcome(False, f"nothing is switched: {known.why}", UNTOLD)
    others = [each for each in _active(known, joints) if each.name != effort_controller]
    holding = _holding(known, joints, effort_controller)
    try:
        controller = _fitting(known, effort_controller, joints)
        yield from _at_rest("take it over when it rests")
        view = yield from _hold()
    except Refused as refused:
        if holding != NODE:
            yield EnterMode("monitor")
        return Outcome(False, f"nothing is switched: {refused}", holding)
    before = view.q
    if others or not controller.active:
        failure = yield SwitchControllers(() if controller.active else (effort_controller,), _tuple(others))
        if failure and (outcome := (yield from _after_failed_switch(failure, others, effort_controller))):
            return outcome
    yield Step("probe")
    view = yield from _watch(before, lambda view, waited: view.probe is not None or not _goes_on(view, waited))
    if problem := _disobedience(view, before):
        return (yield from _switch_back(problem, effort_controller, others))
    told = _told(view, others)
    yield from _come_to_rest()
    yield Step("release")
    return Outcome(True, told, NODE, _tuple(others))


def give_back(effort_controller: str, controllers: Sequence[str], joints: Sequence[str]) -> Procedure:
    """Give the arm back to other controllers, which are told to stay where it is.

    The node goes on commanding until they have been seen to hold the arm.

    Args:
        effort_controller: name of the controller that takes the node's commands.
        controllers: names of those that get the arm.
        joints: joints of the commands, in their order.
    """
    known = yield ListControllers()
    if isinstance(known, NoAnswer):
        return Outcome(False, f"nothing is switched: {known.why}", UNTOLD)
    holding = _holding(known, joints, effort_controller)
    try:
        receivers = _receivers(known, controllers, joints)
        for each in receivers:
            if each.takes_trajectories and (deaf := (yield Stay(each, {}, {}))):
                raise Refused(_text(deaf))
        yield from _hold()
        yield from _come_to_rest()
        view = yield from _at_rest("let go of it")
    except Refused as refused:
        yield Step("release")
        return Outcome(False, f"nothing is switched: {refused}", holding)
    before = view.q
    failure = yield SwitchControllers(_tuple(each for each in receivers if not each.active), (effort_controller,))
    if failure:
        active = yield ListControllers()
        unknown = isinstance(active, NoAnswer)
        if unknown or {each.name for each in _active(active, joints)} != set(_tuple(receivers)):
            yield Step("release")
            holder = _names([*receivers, NODE], " or ") if unknown else _holding(active, joints, effort_controller)
            return Outcome(False, f"the switch failed: {_text(failure)}; mode gravity goes on", holder)
    yield from _let_stay(receivers, view)
    view = yield from _watch(before, lambda view, waited: waited > WATCH_TIME)
    if (moved := _motion(view, before)) > MAX_MOTION:
        return (yield from _take_back(f"the arm moved by {moved:.3f} rad or m", effort_controller, receivers))
    yield EnterMode("monitor")
    return Outcome(True, f"{_names(receivers)} holds the arm", _names(receivers))


# ---- the controllers


def _tuple(controllers: Iterable[Controller]) -> tuple[str, ...]:
    return tuple(each.name for each in controllers)


def _names(controllers: Iterable[Controller | str], between: str = ", ") -> str:
    return between.join(each if isinstance(each, str) else each.name for each in controllers)


def _active(known: Sequence[Controller], joints: Sequence[str]) -> list[Controller]:
    """Return the active controllers of the joints."""
    return [each for each in known if each.active and set(each.joints) & set(joints)]


def _holding(known: Sequence[Controller], joints: Sequence[str], effort_controller: str) -> str:
    """Return who holds the arm."""
    return _names(NODE if each.name == effort_controller else each for each in _active(known, joints))


def _fitting(known: Sequence[Controller], name: str, joints: Sequence[str]) -> Controller:
    """Return the effort controller, if it commands efforts of the joints in their order."""
    found = [each for each in known if each.name == name]
    if not found:
        raise Refused(f"there is no controller '{name}', but {_names(known) or 'none'}")
    controller = found[0]
    if not controller.joints:
        raise Refused(f"controller '{name}' names no joints: configure it")
    if not controller.takes_efforts:
        raise Refused(f"controller '{name}' does not command efforts")
    if controller.joints != tuple(joints):
        raise Refused(
            f"controller '{name}' commands {', '.join(controller.joints)}, the node {', '.join(joints)}: "
            "set command_joints to its joints in its order"
        )
    return controller


def _receivers(known: Sequence[Controller], names: Sequence[str], joints: Sequence[str]) -> list[Controller]:
    """Return the controllers that get the arm, if they command all of its joints."""
    if not names:
        raise Refused("nothing was taken over before: name the controllers that get the arm in the request")
    if missing := [name for name in names if name not in _tuple(known)]:
        raise Refused(f"there is no controller '{missing[0]}', but {_names(known) or 'none'}")
    receivers = [each for each in known if each.name in names]
    covered = [joint for each in receivers for joint in each.joints]
    if uncovered := [joint for joint in joints if joint not in covered]:
        raise Refused(f"nobody would hold '{uncovered[0]}': {_names(receivers)} command {', '.join(covered)}")
    return receivers


def _let_stay(controllers: Iterable[Controller], view: ArmView) -> Part:
    """Tell trajectory controllers to stay where the arm was seen, with the efforts that held it there."""
    for each in controllers:
        if each.takes_trajectories:
            efforts = view.command if each.takes_efforts else None
            yield Stay(each, _of(each, view, view.q), {} if efforts is None else _of(each, view, efforts))


def _of(controller: Controller, view: ArmView, values: Array) -> dict[str, float]:
    """Return the values of a controller's joints."""
    return {name: float(x) for name, x in zip(view.joint_names, values) if name in controller.joints}


# ---- the arm


def _at_rest(otherwise: str) -> Part:
    """Return a view of the arm at rest."""
    before = yield Look()
    view = yield Look(REST_TIME)
    if (moved := _motion(view, before.q)) == inf:
        raise Refused("the robot is another one now")
    if moved > REST_DISTANCE:
        joint = view.joint_names[int(np.argmax(np.abs(view.q - before.q)))]
        raise Refused(f"the arm moves: '{joint}' with {moved / REST_TIME:.3g} rad/s or m/s; {otherwise}")
    return view


def _come_to_rest() -> Part:
    """Wait until the arm stands still, or for as long as it may take to settle."""
    waited, before, view = 0.0, (yield Look()), (yield Look(REST_TIME))
    while _motion(view, before.q) > SETTLED_DISTANCE and waited < MAX_SETTLING:
        waited, before, view = waited + REST_TIME, view, (yield Look(REST_TIME))


def _hold() -> Part:
    """Let mode gravity hold the arm where it is; return a view of it when its ramps have ended."""
    view = yield Look()
    if view.mode != "gravity" and (problem := (yield EnterMode("gravity"))):
        raise Refused(problem)
    yield Step("hold")
    before = yield Look()
    view = yield from _watch(before.q, lambda view, waited: view.settled or not _goes_on(view, waited))
    if view.mode != "gravity":
        raise Refused(_ended(view))
    if not view.settled:
        raise Refused(f"the arm does not come to rest: it moved by {_motion(view, before.q):.3f} rad or m")
    return view


def _goes_on(view: ArmView, waited: float) -> bool:
    """Return whether it is worth waiting for mode gravity, after a time, s."""
    return view.mode == "gravity" and waited <= MAX_SETTLING


def _watch(before: Array, enough: Callable[[ArmView, float], bool]) -> Part:
    """Return a view when enough was seen, given it and the time, s; or when the arm has moved."""
    view, waited = (yield Look()), 0.0
    while _motion(view, before) <= MAX_MOTION and not enough(view, waited):
        view, waited = (yield Look(LOOK_PERIOD)), waited + LOOK_PERIOD
    return view


def _motion(view: ArmView, before: Array) -> float:
    """Return how far a joint went, rad or m; infinite where the robot is another one now."""
    if view.q.shape != before.shape:
        return inf
    return float(np.max(np.abs(view.q - before), initial=0.0))


def _ended(view: ArmView) -> str:
    return f"mode gravity ended: {view.reason}"


def _disobedience(view: ArmView, before: Array) -> str:
    """Return why the commands take no effect, or too much; empty if they do."""
    if (moved := _motion(view, before)) > MAX_MOTION:
        return f"the arm moved by {moved:.3f} rad or m after the switch"
    if view.mode != "gravity":
        return _ended(view)
    found, names = view.probe, view.joint_names
    if found is None:
        return "no state came after the switch"
    for i in found.disobeying:
        answering = f"; '{names[found.answered_by[i]]}' answers instead" if i in found.answered_by else ""
        return f"the measured effort of '{names[i]}' does not follow its command{answering}"
    return ""


def _told(view: ArmView, others: Sequence[Controller]) -> str:
    """Return what was verified, in words."""
    assert view.probe is not None
    text = f"mode gravity holds the arm instead of {_names(others) or 'nobody'}"
    coarse = [view.joint_names[i] for i in view.probe.unknown]
    if not coarse:
        return f"{text}; the measured effort of every joint follows"
    return f"{text}; no measured efforts, or too coarse ones, to see whether these follow: {', '.join(coarse)}"


# ---- what fails


def _text(failure: str | NoAnswer) -> str:
    return failure.why if isinstance(failure, NoAnswer) else failure


def _after_failed_switch(failure: str | NoAnswer, others: Sequence[Controller], effort_controller: str) -> Part:
    """Return how a take-over ends whose switch failed; None if it took place all the same."""
    known, text = (yield ListControllers()), f"the switch failed: {_text(failure)}"
    if isinstance(known, NoAnswer):
        # Whoever is active holds the arm: the others where they are, or the effort controller by these commands.
        goes_on = f"mode gravity goes on, since nobody tells who is active: {known.why}"
        return Outcome(False, f"{text}; {goes_on}", _names([*others, NODE], " or "))
    active = {each.name for each in known if each.active}
    if effort_controller in active and not active & set(_tuple(others)):
        return None
    yield EnterMode("monitor")
    return Outcome(False, text, _names(each for each in others if each.name in active))


def _switch_back(problem: str, effort_controller: str, others: Sequence[Controller]) -> Part:
    """Give the arm back to those that held it; without any, the node goes on as well as it can."""
    if not others:
        yield Step("release")
        return Outcome(False, f"{problem}; nobody else held the arm, so mode gravity goes on", NODE)
    view = yield Look()
    failure = yield SwitchControllers(_tuple(others), (effort_controller,))
    if failure:
        return Outcome(False, f"{problem}; switching back failed, too: {_text(failure)}: brake the arm", "")
    yield from _let_stay(others, view)
    yield EnterMode("monitor")
    return Outcome(False, f"{problem}; switched back", _names(others))


def _take_back(problem: str, effort_controller: str, others: Sequence[Controller]) -> Part:
    """Take the arm back from those that do not hold it."""
    failure = yield SwitchControllers((effort_controller,), _tuple(others))
    if failure:
        return Outcome(False, f"{problem}; switching back failed, too: {_text(failure)}: brake the arm", "")
    view = yield Look()
    if view.mode == "monitor" and (refusal := (yield EnterMode("gravity"))):
        return Outcome(False, f"{problem}; the node cannot hold it: {refusal}: brake the arm", "")
    yield Step("release")
    return Outcome(False, f"{problem}; '{effort_controller}' was switched on again", NODE)
