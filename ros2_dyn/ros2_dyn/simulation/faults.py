"""Faults of a world: what goes wrong for a while, drawn at random.

A fault begins and ends. Its parameters come from a random number generator of its own, so that equal seeds give equal
faults whatever else happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.control.modes import ACTIVE_MODES
from ros2_dyn.control.state_plausibility import DISBELIEF_TIME
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime.samples import PayloadRequest
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.driver import DRIVER_FAULTS
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.target_generator import TARGET_FAULTS, TargetFault
from ros2_dyn.simulation.wall import Wall
from ros2_dyn.simulation.world import World

Action = Callable[[], None]
LASTING_FAULTS = {"node stopped": 1.0, "interpreter held": 2.0, "node terminated": 1.2, "wall pressed": 1.0}
"""Faults that last for a time of their own, s."""
TOGGLE_PERIOD = 0.02
"""Period of mode requests that are toggled, s."""


class Fault(NamedTuple):
    """What is done to a world when a fault begins and when it ends."""

    begin: Action
    end: Action


MakeFault = Callable[[World, np.random.Generator], Fault]
USABLE_STATES = ("joints permuted", "states split", "efforts vanish")
"""Faults of a driver whose states a command may be based on."""
DISBELIEVED_STATES = (
    "positions step",
    "second publisher",
    "states freeze",
    "velocities lie",
    "numbers break",
    "noise",
    "names swapped",
)
"""Faults of a driver after which states are not believed for a while."""


def start_fault(world: World, kind: str, rng: np.random.Generator, duration: float) -> None:
    """Begin a fault of a kind of `FAULTS` now, and end it after a duration, s, or after its own."""
    fault = FAULTS[kind](world, rng)
    world.record("fault begins", kind)
    fault.begin()

    def end() -> None:
        fault.end()
        world.record("fault ends", kind)

    world.at(world.now + LASTING_FAULTS.get(kind, duration), end)


def _nothing() -> None:
    """Do nothing."""


def _of_driver(kind: str) -> MakeFault:
    def make(world: World, rng: np.random.Generator) -> Fault:
        active, faults = DRIVER_FAULTS[kind](rng), world.driver.faults
        fault = Fault(lambda: faults.append(active), lambda: faults.remove(active))
        if kind in USABLE_STATES:
            return fault
        return _blinding(world, fault, DISBELIEF_TIME if kind in DISBELIEVED_STATES else 0.0)

    return make


def _blinding(world: World, fault: Fault, disbelief: float = 0.0) -> Fault:
    """Return a fault during which no command can be based on the states, and for the time of disbelief after it, s."""

    def begin() -> None:
        world.motion_judge.blind(True)
        fault.begin()

    def end() -> None:
        fault.end()
        world.at(world.now + disbelief, partial(world.motion_judge.blind, False))

    return Fault(begin, end)


def _of_targets(make: Callable[[np.random.Generator], TargetFault]) -> MakeFault:
    def fault(world: World, rng: np.random.Generator) -> Fault:
        active, faults = make(rng), world.targets.faults
        return Fault(lambda: faults.append(active), lambda: faults.remove(active))

    return fault


# ---- the network


def _change_channel(channel: LossyChannel[object], drop_rate: float, delay: float, jitter: float) -> Fault:
    def change(sign: int) -> None:
        channel.drop_rate += sign * drop_rate
        channel.delay = max(0.0, channel.delay + sign * delay)
        channel.jitter = max(0.0, channel.jitter + sign * jitter)

    return Fault(lambda: change(1), lambda: change(-1))


def states_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay states and targets by up to 0.15 s, with jitter that reorders them."""
    jitter = rng.choice([0.0, rng.uniform(0, 0.05)])
    return _blinding(world, _change_channel(world.state_channel, 0.0, rng.uniform(0.0, 0.15), jitter))


def states_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose states and targets."""
    return _blinding(world, _change_channel(world.state_channel, rng.uniform(0.1, 0.95), 0.0, 0.0))


def commands_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay commands by up to 0.05 s."""
    return _change_channel(world.command_channel, 0.0, rng.uniform(0.0, 0.05), rng.choice([0.0, rng.uniform(0, 0.02)]))


def _suspending(world: World, why: str, fault: Fault) -> Fault:
    """Return a fault during which something else than our commands moves the arm."""

    def begin() -> None:
        world.motion_judge.suspend(why, True)
        fault.begin()

    def end() -> None:
        fault.end()
        world.motion_judge.suspend(why, False)

    return Fault(begin, end)


def commands_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose commands."""
    fault = _change_channel(world.command_channel, rng.uniform(0.1, 1.0), 0.0, 0.0)
    return _suspending(world, "commands lost", fault)


# ---- the processes


def node_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the node; it is started again after a while."""
    return Fault(world.node.kill, _nothing)


def node_terminated(world: World, rng: np.random.Generator) -> Fault:
    """End the node and its failsafe process in order; the node is started again after a while."""
    return Fault(world.node.terminate, _nothing)


def node_hangs(world: World, rng: np.random.Generator) -> Fault:
    """Let the node hang."""
    return Fault(world.node.hang, world.node.resume)


def failsafe_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the failsafe process."""
    return Fault(world.node.lose_failsafe, _nothing)


def subscriber_lost(world: World, rng: np.random.Generator) -> Fault:
    """Take the controller off the command topic."""

    def listen(listens: bool) -> None:
        world.listening = listens
        world.node.set_link(subscribers=int(listens))

    return _suspending(world, "not listening", Fault(lambda: listen(False), lambda: listen(True)))


def controller_inactive(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the controller; the drives hold their last efforts, and its subscription stays."""

    def listen(listens: bool) -> None:
        world.listening = listens

    return _suspending(world, "controller inactive", Fault(lambda: listen(False), lambda: listen(True)))


def controller_switched(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the effort controller; another one holds the arm."""
    return Fault(lambda: world.switch_controller(False), lambda: world.switch_controller(True))


def second_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let another node command zero efforts at 100 Hz."""
    active = [True]

    def command() -> None:
        if active:
            world.send_command(np.zeros(world.arm_model.n))
            world.queue.after(0.01, command)

    def begin() -> None:
        world.node.set_link(other_publishers=("intruder",))
        command()

    def end() -> None:
        active.clear()
        world.node.set_link(other_publishers=())

    return _suspending(world, "second commander", Fault(begin, end))


def twin_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let a second node of the same name command: the efforts that the arm needed when it began."""
    active = [True]
    effort = np.array(world.truth.gravities(world.arm.q.tolist())[0])
    order = [world.description.joint_names.index(name) for name in world.options.settings.command_joints]

    def command() -> None:
        if active:
            world.send_command(effort[order] if order else effort)
            world.queue.after(0.01, command)

    return _suspending(world, "twin commander", Fault(command, active.clear))


def arm_restarted(world: World, rng: np.random.Generator) -> Fault:
    """Restart the driver: no states come, and then the arm stands at home."""
    silence = _of_driver("states stop")(world, rng)

    def end() -> None:
        silence.end()
        world.place_home()

    return Fault(silence.begin, end)


def clocks_jump(world: World, rng: np.random.Generator) -> Fault:
    """Set the node's clock, or those of node and driver, by 30 ms to 3000 s, and back."""
    jump = int(rng.choice([-1, 1]) * 10 ** rng.uniform(7.5, 12.5))
    both = bool(rng.random() < 0.5)

    def shift(by: int) -> None:
        world.node_clock_offset += by
        if both:
            world.driver_clock_offset += by
        text = f"by {1e-9 * by:.3f} s"
        world.node.input(lambda runtime, now: runtime.on_clock_jump(text, now))

    return _blinding(world, Fault(lambda: shift(jump), lambda: shift(-jump)))


# ---- requests


def mode_toggled(world: World, rng: np.random.Generator) -> Fault:
    """Request another mode and this one by turns."""
    others = [mode for mode in ("monitor", *ACTIVE_MODES) if mode != world.wanted_mode]
    modes = [others[int(rng.integers(len(others)))], world.wanted_mode]
    active = [True]

    def toggle() -> None:
        if active:
            mode = modes[0]
            modes.reverse()
            world.node.input(lambda runtime, now: runtime.request_mode(mode, now))
            world.queue.after(TOGGLE_PERIOD, toggle)

    return Fault(toggle, active.clear)


def payload_changed(world: World, rng: np.random.Generator) -> Fault:
    """Declare a payload that the arm does not carry, with a ramp or at once; then the right one."""
    mass, ramp = float(rng.choice([0.5, 3.0, 20.0, 200.0])), float(rng.choice([0.0, 0.5]))
    x, z = rng.uniform(-0.1, 0.1, 2).tolist()
    I = (0.01 * mass, 0.0, 0.0, 0.01 * mass, 0.0, 0.01 * mass)
    told = (mass, mass * x, 0.0, mass * z, *I)

    request = PayloadRequest("", told, ramp)
    return Fault(lambda: world.tell_payload(request), lambda: world.tell_payload(world.declared_payload))


def settings_changed(world: World, rng: np.random.Generator) -> Fault:
    """Change gravity, which is locked while a mode commands, or damping and gains."""
    tilt = rng.uniform(-0.3, 0.3, 2).tolist()
    changes: dict[str, Any] = (
        {"gravity": (9.81 * tilt[0], 9.81 * tilt[1], -9.81)},
        {"gravity_damping": float(rng.uniform(0, 50)), "stop_damping": float(rng.uniform(5, 50))},
        {"guiding_damping": float(rng.uniform(0, 50)), "force_damping": float(rng.uniform(0, 500))},
        {"feed_forward_gain": 0.0, "guiding_hold_force": 100.0},
    )[int(rng.integers(4))]
    original = world.options.settings
    before = {name: getattr(original, name) for name in changes}

    return Fault(lambda: world.tell_settings(**changes), lambda: world.tell_settings(**before))


def gravity_turned(world: World, rng: np.random.Generator) -> Fault:
    """Tell the node that the arm hangs from the ceiling, which it does not."""
    told = world.options.settings.gravity
    turned = tuple(-x for x in told)
    return Fault(lambda: world.tell_settings(gravity=turned), lambda: world.tell_settings(gravity=told))


# ---- what the node was told


@lru_cache(maxsize=256)
def _weaker(model: RobotModel) -> RobotModel:
    """Return the robot with smaller effort limits."""
    links = [
        link._replace(joint=link.joint and replace(link.joint, effort_limit=0.9 * link.joint.effort_limit))
        for link in model.link_specs
    ]
    return RobotModel.from_links(model.name, links)


def description_changed(world: World, rng: np.random.Generator) -> Fault:
    """Publish a description that cannot be used, or one with weaker joints; then the right one."""
    broken = bool(rng.random() < 0.5)

    def publish(description: RobotModel | str) -> None:
        world.node.input(lambda runtime, now: runtime.use_description(description, now))

    other = "<robot" if broken else _weaker(world.description)
    return Fault(lambda: publish(other), lambda: publish(world.description))


def enable_lost(world: World, rng: np.random.Generator) -> Fault:
    """Release the enabling button, or disconnect it."""
    name = "pressed" if rng.random() < 0.5 else "enable_connected"
    return Fault(lambda: setattr(world, name, False), lambda: setattr(world, name, True))


@lru_cache(maxsize=256)
def _other_load(arm: RobotModel, bare: RobotModel, mass: float) -> RobotModel:
    """Return the arm without its payload, or, where it carries none, with one of a mass, kg."""
    return bare if arm is not bare else arm.carrying(Payload(mass, (0.0, 0.0, 0.05), link=arm.default_tip))


def load_changed(world: World, rng: np.random.Generator) -> Fault:
    """Let the arm lose what it carries, or take up something that nobody has declared."""
    arm, fraction = world.initial_arm, float(rng.choice([0.05, 0.15]))
    other = _other_load(arm, world.bare_arm, fraction * float(np.max(arm.effort_limit)) / 9.81)
    return Fault(lambda: world.replace_arm(other), lambda: world.replace_arm(arm))


def _miswiring(world: World, wiring: list[tuple[int, float]]) -> Fault:
    return Fault(lambda: world.miswire(wiring, True), lambda: world.miswire(wiring, False))


def joint_sign(world: World, rng: np.random.Generator) -> Fault:
    """Turn the sign of one joint's commands over."""
    joint = int(rng.integers(world.arm_model.n))
    return _miswiring(world, [(i, -1.0 if i == joint else 1.0) for i in range(world.arm_model.n)])


def joints_swapped(world: World, rng: np.random.Generator) -> Fault:
    """Let two joints get each other's commands, as with a wrong order of `command_joints`."""
    a, b = rng.choice(world.arm_model.n, 2, replace=False).tolist()
    other = {a: b, b: a}
    return _miswiring(world, [(other.get(i, i), 1.0) for i in range(world.arm_model.n)])


# ---- the surroundings


def pushed(world: World, rng: np.random.Generator) -> Fault:
    """Push a link, for a while or as an impulse."""
    links = [link for link in world.arm_model.link_names if world.arm_model.link_frame(link).body >= 2]
    link = links[int(rng.integers(len(links)))]
    direction = rng.normal(size=3)
    force = rng.uniform(5, 80) * direction / np.linalg.norm(direction)
    profile, duration = str(rng.choice(["impulse", "step", "ramp"])), float(rng.uniform(0.02, 0.4))
    point = tuple(rng.uniform(-0.05, 0.05, 3).tolist())

    def begin() -> None:
        world.add_contact(AppliedForce(link, force, point, profile, world.now, duration))

    return Fault(begin, _nothing)


def led(world: World, rng: np.random.Generator) -> Fault:
    """Let a hand lead the tip."""
    displacement = tuple(rng.uniform(-0.2, 0.2, 3).tolist())
    duration, hold = float(rng.uniform(0.3, 1.0)), float(rng.uniform(0, 0.3))

    def begin() -> None:
        world.add_contact(Hand(world.arm_model.default_tip, displacement, (0.0, 0.0, 0.0), world.now, duration, hold))

    return Fault(begin, _nothing)


def walled(world: World, rng: np.random.Generator) -> Fault:
    """Put a wall near the tip, and take it away."""
    direction = rng.normal(size=3)
    normal, distance = direction / np.linalg.norm(direction), float(rng.uniform(-0.002, 0.03))
    walls: list[Wall] = []

    def begin() -> None:
        origin = world.arm.tip_position() - distance * normal
        walls.append(Wall(world.arm_model.default_tip, origin.tolist(), normal.tolist(), stiffness=2e4))
        world.add_contact(walls[0])

    return Fault(begin, lambda: world.remove_contact(walls[0]))


def wall_pressed(world: World, rng: np.random.Generator) -> Fault:
    """Put a stiff wall where the desired force points, while mode force is wanted."""
    distance, stiffness = float(rng.uniform(1e-3, 0.01)), float(10 ** rng.uniform(3.5, 4.7))
    walls: list[Wall] = []

    def begin() -> None:
        force = world.targets.force(world.now)
        size = np.linalg.norm(force)
        normal = -force / size if size > 0 else np.array([0.0, 0.0, 1.0])
        origin = world.arm.tip_position() - distance * normal
        walls.append(Wall(world.arm_model.default_tip, origin.tolist(), normal.tolist(), stiffness=stiffness))
        world.add_contact(walls[0])
        world.want_mode("force")

    return Fault(begin, lambda: world.remove_contact(walls[0]))


FAULTS: dict[str, MakeFault] = {
    **{name: _of_driver(name) for name in DRIVER_FAULTS},
    **{name: _of_targets(make) for name, make in TARGET_FAULTS.items()},
    "states late": states_late,
    "states lost": states_lost,
    "commands late": commands_late,
    "commands lost": commands_lost,
    "node killed": node_killed,
    "node terminated": node_terminated,
    "node hangs": node_hangs,
    "node stopped": node_hangs,
    "interpreter held": node_hangs,
    "failsafe killed": failsafe_killed,
    "subscriber lost": subscriber_lost,
    "controller switched": controller_switched,
    "controller inactive": controller_inactive,
    "second commander": second_commander,
    "twin commander": twin_commander,
    "arm restarted": arm_restarted,
    "clocks jump": clocks_jump,
    "mode toggled": mode_toggled,
    "enable lost": enable_lost,
    "payload changed": payload_changed,
    "settings changed": settings_changed,
    "gravity turned": gravity_turned,
    "description changed": description_changed,
    "load changed": load_changed,
    "joint sign": joint_sign,
    "joints swapped": joints_swapped,
    "arm pushed": pushed,
    "arm led": led,
    "wall": walled,
    "wall pressed": wall_pressed,
}
"""All kinds of faults by name."""
