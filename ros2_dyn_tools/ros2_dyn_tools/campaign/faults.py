# SPDX-License-Identifier: Apache-2.0
"""All faults of a world by name: what goes wrong for a while, drawn at random.

A fault begins and ends. Its parameters come from a random number generator of its own, so that equal seeds give equal
faults whatever else happens.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.control.modes.feed_forward import FeedForwardSettings
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import ClockJump, Description, ModeRequest
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn_tools.campaign.arm_pool import with_effort_limits
from ros2_dyn_tools.campaign.commander_faults import COMMANDER_FAULTS
from ros2_dyn_tools.campaign.contact_faults import CONTACT_FAULTS, Fault, MakeFault, nothing, repeated, unset
from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS
from ros2_dyn_tools.campaign.handover_fault import FAILURES, HANDOVER_TIME, HandoverThereAndBack
from ros2_dyn_tools.campaign.payload_faults import PAYLOAD_FAULTS
from ros2_dyn_tools.campaign.target_generator import TARGET_FAULTS
from ros2_dyn_tools.campaign.world import World


def start_fault(world: World, kind: str, rng: np.random.Generator, duration: float) -> None:
    """Begin a fault of a kind of `FAULTS` now, and end it after a duration, s, or after its own."""
    fault = FAULTS[kind](world, rng)
    world.record("fault begins", kind)
    fault.begin()

    def end() -> None:
        fault.end()
        world.record("fault ends", kind)

    world.at(world.now + LASTING_FAULTS.get(kind, duration), end)


def _listed(faults: list[Any], fault: Any) -> Fault:
    """Return a fault that is in a list while it is active."""
    return Fault(lambda: faults.append(fault), lambda: faults.remove(fault))


# ---- messages and clocks


def _of_driver(kind: str) -> MakeFault:
    return lambda world, rng: _listed(world.driver.faults, DRIVER_FAULTS[kind](rng))


def _of_targets(kind: str) -> MakeFault:
    return lambda world, rng: _listed(world.targets.faults, TARGET_FAULTS[kind](rng))


def arm_restarted(world: World, rng: np.random.Generator) -> Fault:
    """Restart the driver: no states come, and then the arm stands at home."""
    silence = _of_driver("states stop")(world, rng)

    def end() -> None:
        silence.end()
        world.place_home()

    return Fault(silence.begin, end)


def _change_channel(channel: LossyChannel[Any], drop_rate: float, delay: float, jitter: float) -> Fault:
    def change(sign: int) -> None:
        channel.drop_rate += sign * drop_rate
        channel.delay = max(0.0, channel.delay + sign * delay)
        channel.jitter = max(0.0, channel.jitter + sign * jitter)

    return Fault(lambda: change(1), lambda: change(-1))


def states_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay states and targets by up to 0.15 s, with jitter that reorders them."""
    jitter = rng.choice([0.0, rng.uniform(0, 0.05)])
    return _change_channel(world.state_channel, 0.0, rng.uniform(0.0, 0.15), jitter)


def states_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose states and targets."""
    return _change_channel(world.state_channel, rng.uniform(0.1, 0.95), 0.0, 0.0)


def commands_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay commands by up to 0.05 s."""
    return _change_channel(world.command_channel, 0.0, rng.uniform(0.0, 0.05), rng.choice([0.0, rng.uniform(0, 0.02)]))


def commands_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose commands."""
    return _change_channel(world.command_channel, rng.uniform(0.1, 1.0), 0.0, 0.0)


def clocks_jump(world: World, rng: np.random.Generator) -> Fault:
    """Set the node's clock, or those of node and driver, by 30 ms to 3000 s, and back."""
    jump = int(rng.choice([-1, 1]) * 10 ** rng.uniform(7.5, 12.5))
    both = bool(rng.random() < 0.5)

    def shift(by: int) -> None:
        world.node_clock_offset += by
        world.driver_clock_offset += by * both
        text = f"by {1e-9 * by:.3f} s"
        world.node.input(ClockJump(text))

    return Fault(lambda: shift(jump), lambda: shift(-jump))


# ---- processes and commanders


def node_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the node; it is started again after a while."""
    return Fault(world.node.kill, nothing)


def node_killed_while_it_brakes(world: World, rng: np.random.Generator) -> Fault:
    """Let the mode be left, and kill the node before another one is requested."""
    delay = float(rng.uniform(0.01, 0.1))

    def begin() -> None:
        world.node.input(ModeRequest(MONITOR))
        world.queue.after(delay, world.node.kill)

    return Fault(begin, nothing)


def node_terminated(world: World, rng: np.random.Generator) -> Fault:
    """End the node and its failsafe process in order; the node is started again after a while."""
    return Fault(world.node.terminate, nothing)


def node_hangs(world: World, rng: np.random.Generator) -> Fault:
    """Let the node hang."""
    return Fault(world.node.hang, world.node.resume)


def failsafe_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the failsafe process."""
    return Fault(world.node.lose_failsafe, nothing)


def handed_over(world: World, rng: np.random.Generator) -> Fault:
    """Hand the arm over and back."""
    handover = HandoverThereAndBack(world, rng, "none")
    return Fault(handover.begin, handover.end)


def handover_fails(world: World, rng: np.random.Generator) -> Fault:
    """Hand the arm over and back, while something there fails."""
    handover = HandoverThereAndBack(world, rng, list(FAILURES)[int(rng.integers(1, len(FAILURES)))])
    return Fault(handover.begin, handover.end)


# ---- requests


def mode_toggled(world: World, rng: np.random.Generator) -> Fault:
    """Request another mode and this one by turns."""
    others = [mode for mode in (MONITOR, *MODES) if mode != world.wanted_mode]
    modes = [others[int(rng.integers(len(others)))], world.wanted_mode]

    def toggle() -> None:
        mode = modes[0]
        modes.reverse()
        world.node.input(ModeRequest(mode))

    return repeated(world, 0.02, toggle)


def enable_lost(world: World, rng: np.random.Generator) -> Fault:
    """Release the enabling button, or disconnect it."""
    return unset(world, "pressed" if rng.random() < 0.5 else "enable_connected")


def _changed(world: World, changes: dict[str, Any]) -> Fault:
    """Return a fault during which parameters have other values, where the node takes them."""
    original = world.options.settings.values()
    before = {name: original[name] for name in changes}
    return Fault(lambda: world.tell_settings(**changes), lambda: world.tell_settings(**before))


def settings_changed(world: World, rng: np.random.Generator) -> Fault:
    """Change damping and gains: feed-forward ends where a stiffness carries the arm instead."""
    carried = world.options.settings.mode(FeedForwardSettings).law == "joint_pd"
    changes: dict[str, Any] = (
        {"gravity.damping": float(rng.uniform(0, 50))},
        {"hand_guiding.damping": float(rng.uniform(0, 50)), "force.damping": float(rng.uniform(0, 500))},
        {"feed_forward.gain": 0.0 if carried else 0.9, "hand_guiding.friction": 0.0},
    )[int(rng.integers(3))]
    return _changed(world, changes)


def gravity_tilted(world: World, rng: np.random.Generator) -> Fault:
    """Tell the node that the base is tilted by up to 20 degrees."""
    x, y = rng.uniform(-0.3, 0.3, 2).tolist()
    return _changed(world, {"robot.gravity": (9.81 * x, 9.81 * y, -9.81)})


def gravity_turned(world: World, rng: np.random.Generator) -> Fault:
    """Tell the node that the arm hangs from the ceiling, which it does not."""
    return _changed(world, {"robot.gravity": tuple(-x for x in world.options.settings.robot.gravity)})


def stiffness_changed(world: World, rng: np.random.Generator) -> Fault:
    """Change the stiffness of mode impedance again and again; then tell the right one."""
    original = _changed(world, random_spring(rng))
    return repeated(world, 0.06, lambda: world.tell_settings(**random_spring(rng)), original.end)


def random_spring(rng: np.random.Generator) -> dict[str, Any]:
    """Return a stiffness of mode impedance: from soft to stiffer than any loop bears; some axes are left free."""
    stiffness = 10 ** rng.uniform(1.5, 4.0, 6) * [1, 1, 1, 0.02, 0.02, 0.02] * (rng.random(6) < 0.9)
    return {"impedance.stiffness": stiffness.tolist()}


@lru_cache(maxsize=256)
def _weaker(model: RobotModel) -> RobotModel:
    """Return the robot with smaller effort limits."""
    return with_effort_limits(model, {joint.name: 0.9 * joint.effort_limit for joint in model.joints})


def description_changed(world: World, rng: np.random.Generator) -> Fault:
    """Publish a description that cannot be used, or one with weaker joints; then the right one."""
    other = "<robot" if rng.random() < 0.5 else _weaker(world.description)

    def publish(description: RobotModel | str) -> None:
        world.node.input(Description(description))

    return Fault(lambda: publish(other), lambda: publish(world.description))


# ---- the arm


def drive_weakened(world: World, rng: np.random.Generator) -> Fault:
    """Let the drive of one joint give half to nine tenths of what is commanded."""
    share = np.ones(world.arm_model.n)
    share[rng.integers(len(share))] = rng.uniform(0.5, 0.9)
    return _weakened(world, share)


def drives_derated(world: World, rng: np.random.Generator) -> Fault:
    """Let all drives give a tenth to six tenths of what is commanded, or of what they can: they are hot."""
    return _weakened(world, rng.uniform(0.1, 0.6, world.arm_model.n), limit_only=bool(rng.random() < 0.5))


def _weakened(world: World, share: Array, limit_only: bool = False) -> Fault:
    def weaken(share: Array) -> None:
        world.controllers.drive = world.controllers.drive.weakened(share, limit_only)

    return Fault(lambda: weaken(share), lambda: weaken(1 / share))


def joint_sign(world: World, rng: np.random.Generator) -> Fault:
    """Turn the sign of one joint's commands over."""
    joint = int(rng.integers(world.arm_model.n))
    return _listed(world.wirings, [(i, -1.0 if i == joint else 1.0) for i in range(world.arm_model.n)])


def joints_swapped(world: World, rng: np.random.Generator) -> Fault:
    """Let two joints get each other's commands, as with a wrong order of `robot.joints`."""
    a, b = rng.choice(world.arm_model.n, 2, replace=False).tolist()
    other = {a: b, b: a}
    return _listed(world.wirings, [(other.get(i, i), 1.0) for i in range(world.arm_model.n)])


WRONG_MODELS = ("payload changed", "gravity tilted", "gravity turned", "load changed", "load hung", "drive weakened")
"""Faults during which the node's model of the arm is wrong, or a drive is weaker than it should be."""
ABSURD = ("payload too heavy", "joint sign", "joints swapped", "drives derated")
"""Faults during which nothing may hold the arm: joints do something else than is meant, or the model is far off."""
LASTING_FAULTS = {
    "node stopped": 1.0,
    "interpreter held": 2.0,
    "node terminated": 1.2,
    "arm leaned on": 3.0,
    "wall pressed": 1.0,
    "spring blocked": 1.0,
    "payload declared": 1.5,
    "handed over": HANDOVER_TIME,
    "handover fails": HANDOVER_TIME,
    "enable lost": 1.0,
    **dict.fromkeys((*WRONG_MODELS, *ABSURD), 2.5),
    "states stop": 0.8,
    "encoder slips": 3.0,
    "second commander": 0.6,
    "controller moves": 2.0,
    "freedrive": 1.5,
    "driver restarted": 0.6,
}
"""Faults that last for a time of their own, s."""
FAULTS: dict[str, MakeFault] = {
    **{name: _of_driver(name) for name in DRIVER_FAULTS},
    **{name: _of_targets(name) for name in TARGET_FAULTS},
    "states late": states_late,
    "states lost": states_lost,
    "commands late": commands_late,
    "commands lost": commands_lost,
    "arm restarted": arm_restarted,
    "clocks jump": clocks_jump,
    "node killed": node_killed,
    "node killed while it brakes": node_killed_while_it_brakes,
    "node terminated": node_terminated,
    "node hangs": node_hangs,
    "node stopped": node_hangs,
    "interpreter held": node_hangs,
    "failsafe killed": failsafe_killed,
    **COMMANDER_FAULTS,
    "mode toggled": mode_toggled,
    "enable lost": enable_lost,
    **PAYLOAD_FAULTS,
    "settings changed": settings_changed,
    "stiffness changed": stiffness_changed,
    "gravity tilted": gravity_tilted,
    "gravity turned": gravity_turned,
    "description changed": description_changed,
    "drive weakened": drive_weakened,
    "drives derated": drives_derated,
    "joint sign": joint_sign,
    "joints swapped": joints_swapped,
    **CONTACT_FAULTS,
    "handed over": handed_over,
    "handover fails": handover_fails,
}
"""All kinds of faults by name."""
