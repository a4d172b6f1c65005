# SPDX-License-Identifier: Apache-2.0
"""Faults of a driver: messages that stop, freeze, lie or come twice; each function draws the parameters of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

import numpy as np

from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn_tools.campaign.driver import DriverFault

NUMBERS = ("position", "velocity", "effort")
"""Fields of a message of joint states."""


def stop_stream(rng: np.random.Generator) -> DriverFault:
    """Send nothing."""
    return lambda samples: []


def freeze_numbers(rng: np.random.Generator) -> DriverFault:
    """Repeat the first numbers, with new stamps or with the first one."""
    keeps_stamp = bool(rng.random() < 0.3)
    first: list[JointSample] = []

    def fault(samples: list[JointSample]) -> list[JointSample]:
        if not first:
            first.extend(samples)
        return [old._replace(stamp=old.stamp if keeps_stamp else new.stamp) for old, new in zip(first, samples)]

    return fault


def break_numbers(rng: np.random.Generator) -> DriverFault:
    """Send NaN, infinity or a huge number in one field, of one joint or of all."""
    field = str(rng.choice(NUMBERS))
    value = (nan, inf, -inf, 1e12, 1e300)[int(rng.integers(5))]
    joint = int(rng.integers(-3, 7))
    share = rng.choice([1.0, 0.3])
    own = np.random.default_rng(rng.integers(2**63))

    def broken(i: int, x: float) -> float:
        return value if joint < 0 or i == joint else x

    def fault(samples: list[JointSample]) -> list[JointSample]:
        if own.random() > share:
            return samples
        return [_replace_numbers(sample, field, broken) for sample in samples]

    return fault


def lie_about_velocity(rng: np.random.Generator) -> DriverFault:
    """Send velocities that are zero, of the wrong sign or of the wrong size."""
    factor = (0.0, -1.0, 0.1, 10.0)[int(rng.integers(4))]
    return lambda samples: [_replace_numbers(sample, "velocity", lambda i, x: factor * x) for sample in samples]


def omit_field(rng: np.random.Generator) -> DriverFault:
    """Send no efforts, or no velocities."""
    field = str(rng.choice(["effort", "effort", "velocity"]))
    return lambda samples: [_replace_list(sample, field, []) for sample in samples]


def split_states(rng: np.random.Generator) -> DriverFault:
    """Send each state in two messages of some joints each, or only one of the two."""
    part = int(rng.integers(1, 6))
    loses_half = bool(rng.random() < 0.3)

    def fault(samples: list[JointSample]) -> list[JointSample]:
        halves = [_pick(sample, order) for sample in samples for order in (range(part), range(part, len(sample.names)))]
        return halves[::2] if loses_half else halves

    return fault


def permute_joints(rng: np.random.Generator) -> DriverFault:
    """Send the joints in another order, with another joint among them."""
    own = int(rng.integers(2**63))

    def fault(samples: list[JointSample]) -> list[JointSample]:
        permuted = []
        for sample in samples:
            order = np.random.default_rng(own).permutation(len(sample.names)).tolist()
            extra = JointSample(sample.stamp, ("gripper",), (0.1,), (0.0,), (0.0,))
            permuted.append(_join(_pick(sample, order), extra))
        return permuted

    return fault


def swap_names(rng: np.random.Generator) -> DriverFault:
    """Send the numbers of two joints under each other's names."""
    a, b = rng.choice(5, 2, replace=False).tolist()

    def swap(names: Sequence[str]) -> tuple[str, ...]:
        swapped = list(names)
        if max(a, b) < len(swapped):
            swapped[a], swapped[b] = swapped[b], swapped[a]
        return tuple(swapped)

    return lambda samples: [sample._replace(names=swap(sample.names)) for sample in samples]


def offset_stamps(rng: np.random.Generator) -> DriverFault:
    """Set the driver's clock, by 1 ms to 1000 s; or send no stamps."""
    offset = int(rng.choice([-1, 1]) * 10 ** rng.uniform(6, 12))
    if rng.random() < 0.15:
        return lambda samples: [sample._replace(stamp=0) for sample in samples]
    return lambda samples: [sample._replace(stamp=max(sample.stamp + offset, 1)) for sample in samples]


def shorten_lists(rng: np.random.Generator) -> DriverFault:
    """Send one list with a number too few."""
    field = str(rng.choice(NUMBERS))
    return lambda samples: [_replace_list(sample, field, getattr(sample, field)[:-1]) for sample in samples]


def add_noise(rng: np.random.Generator) -> DriverFault:
    """Send noisy positions and velocities."""
    size, own = 10 ** rng.uniform(-3, -0.5), np.random.default_rng(rng.integers(2**63))

    def noisy(i: int, x: float) -> float:
        return x + size * float(own.standard_normal())

    return lambda samples: [
        _replace_numbers(_replace_numbers(sample, "position", noisy), "velocity", noisy) for sample in samples
    ]


def repeat_messages(rng: np.random.Generator) -> DriverFault:
    """Send each message twice, or an old one after it."""
    kept: list[JointSample] = []
    lag = int(rng.integers(0, 4))

    def fault(samples: list[JointSample]) -> list[JointSample]:
        kept.extend(samples)
        del kept[: -(lag + 1) * max(len(samples), 1)]
        return [*samples, *kept[:1]]

    return fault


def publish_twice(rng: np.random.Generator) -> DriverFault:
    """Add a second publisher, of an arm that stands elsewhere."""
    shift = float(rng.uniform(-0.5, 0.5))

    def fault(samples: list[JointSample]) -> list[JointSample]:
        other = [
            _replace_numbers(_replace_numbers(sample, "position", lambda i, x: x + shift), "velocity", lambda i, x: 0.0)
            for sample in samples
        ]
        return [*samples, *(sample._replace(stamp=sample.stamp + 500_000) for sample in other)]

    return fault


def step_positions(rng: np.random.Generator) -> DriverFault:
    """Add a step or a growing offset to one joint's position, of which the velocities say nothing."""
    joint, step = int(rng.integers(5)), float(rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 0))
    rate = float(rng.choice([0.0, 10.0]))
    resting = bool(rng.random() < 0.5)
    shift = _shift(joint, lambda since: step + rate * since)

    def fault(samples: list[JointSample]) -> list[JointSample]:
        moved = shift(samples)
        return [_replace_numbers(sample, "velocity", lambda i, x: 0.0) for sample in moved] if resting else moved

    return fault


def slip(rng: np.random.Generator) -> DriverFault:
    """Let one joint's position slip by 0.02 to 0.045 rad or m again and again, of which the velocities say nothing."""
    joint, step = int(rng.integers(5)), float(rng.choice([-1, 1]) * rng.uniform(0.02, 0.045))
    every = float(rng.uniform(0.2, 0.5))
    return _shift(joint, lambda since: step * (1 + since // every))


def restart(rng: np.random.Generator) -> DriverFault:
    """Send nothing for a while, and zeros until the hardware has been read for the first time."""
    silence = float(rng.uniform(0.05, 0.5))

    def zeros(sample: JointSample, since: float) -> JointSample | None:
        for field in NUMBERS:
            sample = _replace_numbers(sample, field, lambda i, x: 0.0)
        return sample if since > silence else None

    return _by_time(zeros)


def without_efforts(samples: list[JointSample]) -> list[JointSample]:
    """Send no efforts; a fault without parameters."""
    return [_replace_list(sample, "effort", []) for sample in samples]


def lose_efforts(rng: np.random.Generator) -> DriverFault:
    """Send efforts of zero, or none."""
    if rng.random() < 0.5:
        return without_efforts
    return lambda samples: [_replace_list(sample, "effort", [0.0] * len(sample.names)) for sample in samples]


def disturb_efforts(rng: np.random.Generator) -> DriverFault:
    """Send efforts that are noisy, or in some states zero or ten times as large."""
    own = np.random.default_rng(rng.integers(2**63))
    noisy, spike, share = bool(rng.random() < 0.4), float(rng.choice([0.0, 10.0])), float(rng.uniform(0.02, 0.3))

    def fault(samples: list[JointSample]) -> list[JointSample]:
        factor = spike if own.random() < share else 1.0

        def disturbed(i: int, x: float) -> float:
            return x * (float(own.normal(1.0, share)) if noisy else factor)

        return [_replace_numbers(sample, "effort", disturbed) for sample in samples]

    return fault


DRIVER_FAULTS: dict[str, Callable[[np.random.Generator], DriverFault]] = {
    "states stop": stop_stream,
    "states freeze": freeze_numbers,
    "numbers break": break_numbers,
    "velocities lie": lie_about_velocity,
    "field missing": omit_field,
    "states split": split_states,
    "joints permuted": permute_joints,
    "names swapped": swap_names,
    "stamps offset": offset_stamps,
    "lists short": shorten_lists,
    "noise": add_noise,
    "messages repeated": repeat_messages,
    "second publisher": publish_twice,
    "positions step": step_positions,
    "efforts vanish": lose_efforts,
    "encoder slips": slip,
    "driver restarted": restart,
    "efforts disturbed": disturb_efforts,
}
"""Faults of a driver by name; each function draws the parameters of one."""


def _shift(joint: int, offset: Callable[[float], float]) -> DriverFault:
    """Return a fault that adds to one joint's position what depends on the time since its first message, s."""

    def shift(sample: JointSample, since: float) -> JointSample:
        by = offset(since)
        return _replace_numbers(sample, "position", lambda i, x: x + by if i == joint else x)

    return _by_time(shift)


def _by_time(change: Callable[[JointSample, float], JointSample | None]) -> DriverFault:
    """Return a fault that changes each message by the time since its first one, s; None: it is not sent."""
    begun: list[int] = []

    def fault(samples: list[JointSample]) -> list[JointSample]:
        begun.extend(sample.stamp for sample in samples[: 1 - len(begun)])
        changed = (change(sample, 1e-9 * (sample.stamp - begun[0])) for sample in samples)
        return [sample for sample in changed if sample is not None]

    return fault


def _replace_numbers(sample: JointSample, field: str, change: Callable[[int, float], float]) -> JointSample:
    return _replace_list(sample, field, [change(i, x) for i, x in enumerate(getattr(sample, field))])


def _replace_list(sample: JointSample, field: str, values: Sequence[float]) -> JointSample:
    changes: dict[str, Any] = {field: values}
    return sample._replace(**changes)


def _pick(sample: JointSample, order: Sequence[int]) -> JointSample:
    """Return a message with some of the joints, in an order."""

    def picked(values: Sequence[float]) -> list[float]:
        return [values[i] for i in order if i < len(values)]

    names = tuple(sample.names[i] for i in order if i < len(sample.names))
    return sample._replace(
        names=names,
        position=picked(sample.position),
        velocity=picked(sample.velocity),
        effort=picked(sample.effort),
    )


def _join(sample: JointSample, other: JointSample) -> JointSample:
    """Return a message with the joints of both; lists that the first lacks stay empty."""

    def joined(a: Sequence[float], b: Sequence[float]) -> list[float]:
        return [*a, *b] if len(a) else []

    return sample._replace(
        names=(*sample.names, *other.names),
        position=joined(sample.position, other.position),
        velocity=joined(sample.velocity, other.velocity),
        effort=joined(sample.effort, other.effort),
    )
