# SPDX-License-Identifier: Apache-2.0
"""All that the doctor is shown: recordings made wrong in one way, in each of several sizes, and in two ways at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from ros2_dyn.dynamics import rnea
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import even_motion
from wrong_recordings import Wrong

GAINS = (0.5, 1.5, 0.1)
"""What the efforts of one joint are multiplied with; the last one stands for amperes."""
DELAYS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.1)
"""Of the efforts, s; and the same early."""
PAYLOADS = ((1.0, 0.0, 0.0, 0.05), (3.0, 0.05, 0.0, 0.1), (5.0, 0.0, -0.1, 0.15))
"""Mass, kg, and centre of mass, m."""
TILTS = (30.0, 45.0, 90.0, 180.0)
"""Degrees about the base's x; about y, too, where that is another thing."""
PAIRED = (
    "sign",
    "gain",
    "common gain",
    "percent",
    "compensated",
    "order",
    "order of efforts",
    "degrees",
    "mounting",
    "payload",
    "delay",
)


def tilted(angle: float, axis: int) -> tuple[float, float, float]:
    """Return gravity, m/s^2, in the frame of a base that is turned by degrees about its x (0) or y (1)."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    x, y, z = (0.0, s, c) if axis == 0 else (s, 0.0, c)
    return round(9.81 * x, 6), round(9.81 * y, 6), round(-9.81 * z, 6)


def single_faults(n: int) -> dict[str, Wrong]:
    """Return every single fault of an arm of n joints."""
    cases = {f"sign of joint {j + 1}": Wrong(signs=(j,)) for j in range(n)}
    cases["sign of all joints"] = Wrong(signs=tuple(range(n)))
    cases |= {f"joint {j + 1} times {gain}": Wrong(gains=((j, gain),)) for gain in GAINS for j in range(n)}
    cases |= {f"all joints times {gain}": Wrong(gain=gain) for gain in (*GAINS, 1000.0)}
    cases |= {"percent of limits": Wrong(percent=True), "gravity compensated": Wrong(compensated=True)}
    cases |= {f"noise of {size} N m alone": Wrong(external=size) for size in (0.1, 1.0)}
    for i in range(n - 1):
        cases[f"joints {i + 1} and {i + 2} exchanged"] = Wrong(swapped=(i, i + 1))
        cases[f"efforts of {i + 1} and {i + 2} exchanged"] = Wrong(swapped_efforts=(i, i + 1))
    cases |= {"degrees": Wrong(degrees=True), "degrees, velocities in rad/s": Wrong(degrees_of_positions=True)}
    for angle in TILTS:
        cases[f"tilted by {angle:.0f} degrees about x"] = Wrong(gravity=tilted(angle, 0))
        if angle < 180:
            cases[f"tilted by {-angle:.0f} degrees about y"] = Wrong(gravity=tilted(-angle, 1))
    cases |= {f"payload of {payload[0]:.0f} kg": Wrong(payload=payload) for payload in PAYLOADS}
    cases |= {f"efforts {1e3 * x:.0f} ms late": Wrong(delay=x) for x in DELAYS}
    cases |= {f"efforts {1e3 * x:.0f} ms early": Wrong(delay=-x) for x in DELAYS}
    return cases


def pairs_of_faults(n: int, seed: int = 1) -> dict[str, Wrong]:
    """Return two faults at once, of every two kinds, each at random; of two that are about efforts, at other joints."""
    rng = np.random.default_rng(seed)
    cases = {}
    for first, second in combinations(PAIRED, 2):
        if {first, second} in ({"common gain", "percent"}, {"order", "order of efforts"}):
            continue
        i, j, k = rng.permutation(n)[:3].tolist()
        both = (random_fault(kind, joint, (k, (k + 1) % n), rng) for kind, joint in ((first, i), (second, j)))
        cases[f"{first} and {second}"] = together(*both)
    cases["noise alone and degrees"] = Wrong(external=1.0, degrees=True)
    return cases


def together(*faults: Wrong) -> Wrong:
    """Return several faults at once."""
    return Wrong(**{k: value for each in faults for k, value in vars(each).items() if value != getattr(Wrong(), k)})


def random_fault(kind: str, joint: int, two: tuple[int, int], rng: np.random.Generator) -> Wrong:
    """Return a fault of one of the `PAIRED` kinds, or "external", of a joint or of two."""
    size = float(rng.choice([0.1, 0.3, 3.0, 10.0]))
    kinds = {
        "sign": Wrong(signs=(joint,)),
        "gain": Wrong(gains=((joint, size),)),
        "common gain": Wrong(gain=size),
        "percent": Wrong(percent=True),
        "compensated": Wrong(compensated=True),
        "order": Wrong(swapped=two),
        "order of efforts": Wrong(swapped_efforts=two),
        "degrees": Wrong(degrees=True),
        "mounting": Wrong(gravity=tilted(float(rng.choice([45.0, 90.0, -90.0, 180.0])), int(rng.integers(2)))),
        "payload": Wrong(payload=(float(rng.uniform(2.0, 5.0)), *rng.uniform(-0.1, 0.1, 2), 0.1)),
        "delay": Wrong(delay=float(rng.choice([-0.1, 0.08, 0.12]))),
        "external": Wrong(external=float(rng.choice([0.1, 1.0]))),
    }
    return kinds[kind]


def untouched(recording: Recording) -> dict[str, Recording]:
    """Return a recording as it is, its halves and thirds, and 60 s of it, repeated: nothing is wrong with any."""
    parts = {"the whole": recording}
    for count, name in ((2, "half"), (3, "third")):
        for i in range(count):
            part = recording.between(i / count, (i + 1) / count)
            parts[f"{name} {i + 1}"] = part._replace(t=part.t - part.t[0])
    t, *signals = recording
    times = int(np.ceil(60.0 / t[-1]))
    step = float(np.median(np.diff(t)))
    again = np.concatenate([t + i * (t[-1] + step) for i in range(times)])
    long = Recording(again, *(np.tile(x, (times, 1)) for x in signals))
    return {**parts, "60 s": long.between(0.0, 60.0 / again[-1])}


def frictional(model: RobotModel, recording: Recording) -> frozenset[int]:
    """Return the joints whose efforts are friction for the most part: less than half is explained without it."""
    motion = even_motion(recording, 5.0)
    tau = rnea(model, motion.q, motion.qd, motion.qdd)
    rest = np.sqrt(np.mean((motion.effort - tau) ** 2, axis=0) / np.mean(motion.effort**2, axis=0))
    return frozenset(np.flatnonzero(rest > 0.5).tolist())


def that_has_to_be_told(what: Wrong, frictional: frozenset[int]) -> Wrong:
    """Return what is wrong without that which docs/doctor.md says is too small, or hidden by friction."""
    gains = tuple((j, gain) for j, gain in what.gains if j not in frictional and not 0.5 <= gain <= 2.0)
    return replace(
        what,
        gains=gains,
        gain=1.0 if 0.5 <= what.gain <= 2.0 else what.gain,
        delay=what.delay if abs(what.delay) > 0.055 else 0.0,
        payload=what.payload if what.payload and what.payload[0] >= 2.0 else (),
    )
