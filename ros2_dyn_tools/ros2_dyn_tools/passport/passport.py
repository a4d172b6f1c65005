# SPDX-License-Identifier: Apache-2.0
"""The passport of an arm from recordings: gate, doctor, identification and detection, each upon the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor import Diagnosis, Note, diagnose
from ros2_dyn_tools.identification.identification import Estimate, Identification, Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.known_load import common_gain
from ros2_dyn_tools.passport.drift import rubbing
from ros2_dyn_tools.passport.felt_forces import FeltForce, Watch, felt_forces
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, Conditions
from ros2_dyn_tools.recording.gate import Check, gate
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.report.contact_report import CollisionReport, collision_report

SURE = 0.9
"""Confidence of a finding of the doctor, from which on it is used."""
FIRST = ("degrees", "joint_order", "external_only", "gravity_compensated")
"""Findings that have to be mended before anything can be identified."""
BANDWIDTH = 25.0
"""Bandwidth of the observer, 1/s: that of the node, unless it is told another."""

SLOW = 0.1
"""Speed, rad/s or m/s, at which friction is told: most of it is dry there."""


class Load(NamedTuple):
    """A load of known mass at the tip."""

    recording: Recording
    mass: float
    """kg."""


@dataclass(frozen=True, eq=False)
class Passport:
    """What is known of an arm."""

    model: RobotModel
    """As described."""
    checks: list[Check]
    """What the first recording is good for."""
    findings: list[Diagnosis]
    """What the doctor found."""
    notes: list[Note]
    effort_gain: Array
    """What the driver's efforts have to be multiplied with, N m or N per unit, shape (n,)."""
    payload: tuple[float, ...]
    """Mass, kg, and centre of mass in the tip's axes, m, of what the description lacks; empty for nothing."""
    gain: Estimate | None
    """Factor of all joints by a known load, which `effort_gain` contains; None without one."""
    identification: Identification
    slow_friction: Array
    """At the speed `SLOW`, under the load of the recorded postures, N m or N, shape (n,)."""
    contact: CollisionReport | None
    """What a collision detector makes of the part that nothing was fitted to; None where it has no thresholds."""
    no_contact: str
    """Why it has none."""
    felt: list[FeltForce]
    """The smallest forces that are felt; empty without thresholds."""


def passport(
    model: RobotModel,
    as_recorded: Recording,
    recordings: Sequence[Recording],
    *,
    options: Options,
    effort_gain: Array,
    load: Load | None = None,
    progress: Callable[[str, float], None] = lambda step, share: None,
) -> Passport:
    """Return the passport of an arm.

    Args:
        model: the robot as described, with the joints in the recordings' order.
        as_recorded: the first recording with all that is wrong with it: velocities and efforts may be NaN.
        recordings: the motions without contact, with efforts in the driver's unit.
        options: of the identification.
        effort_gain: what the efforts have to be multiplied with as far as that is known, shape (n,).
        load: a motion with a load of known mass.
        progress: is called now and then.

    Raises:
        InputError: what `diagnose`, `identify` and `common_gain` raise, or something has to be mended first.
    """
    progress("gate", 0.0)
    checks = gate(model, as_recorded)
    progress("doctor", 0.0)
    report = diagnose(model, as_recorded, effort_gain)
    sure = [each for each in report.findings if each.confidence >= SURE]
    for each in sure:
        if each.code in FIRST:
            raise InputError("recording", f"the doctor finds {each.code}: {each.evidence}; {each.remedy}")
    effort_gain = effort_gain * _factors(model, sure)
    motions = [_times(each, effort_gain) for each in recordings]
    found = identify(model, motions, options, progress)
    for each in sure:
        if each.code == "mounting":  # masses that are wrong look alike: what predicts better counts
            leaning = identify(model, motions, _standing(options, each), progress)
            found = min(found, leaning, key=lambda one: float(np.sum(np.log(one.held_out))))
    gain = None
    if load is not None:
        gain = common_gain(found, motions[0], _times(load.recording, effort_gain), load.mass)
        effort_gain = effort_gain * gain.value
        motions = [_times(each, effort_gain) for each in recordings]
        found = identify(model, motions, found.options, progress)
    progress("contact", 1.0)
    contact, problem = _contact(found, motions)
    return Passport(
        model=model,
        checks=checks,
        findings=report.findings,
        notes=report.notes,
        effort_gain=effort_gain,
        payload=report.hypothesis.payload if any(each.code == "payload" for each in sure) else (),
        gain=gain,
        identification=found,
        slow_friction=rubbing(found.model, np.full(model.n, SLOW), as_recorded.q, found.gravity),
        contact=contact,
        no_contact=problem,
        felt=[] if contact is None else felt_forces(found.model, _watch(contact)),
    )


def _times(recording: Recording, gain: Array) -> Recording:
    return recording._replace(effort=recording.effort * gain)


def _standing(options: Options, mounting: Diagnosis) -> Options:
    x, y, z = np.asarray(mounting.value, dtype=float).tolist()
    return replace(options, gravity=(x, y, z))


def _factors(model: RobotModel, findings: Sequence[Diagnosis]) -> Array:
    """Return what the doctor's signs and gains multiply the efforts with, shape (n,)."""
    factors = np.ones(model.n)
    for each in findings:
        if each.code in ("sign", "gain"):
            joints = slice(None) if each.joint is None else model.joint_names.index(each.joint)
            factors[joints] *= np.asarray(each.value, dtype=float)
    return factors


def _contact(found: Identification, recordings: Sequence[Recording]) -> tuple[CollisionReport | None, str]:
    """Return what a detector makes of the last third of the time, which nothing was fitted to, or why it cannot."""
    driver, last = found.settings.effort_filter, recordings[-1]
    conditions = Conditions(tuple(found.gravity.tolist()), driver if driver.kind == "first_order" else NO_FILTER)
    tested = sum(each.t[-1] for each in recordings) / 3 / last.t[-1]
    try:
        report = collision_report(
            found.model,
            last,
            calibrate_on=1 - tested if tested < 0.5 else 0.5,
            bandwidth=BANDWIDTH,
            fit=False,
            conditions=conditions,
        )
    except InputError as error:
        return None, str(error)
    return report, ""


def _watch(contact: CollisionReport) -> Watch:
    return Watch(contact.recording, contact.residuals, contact.thresholds, BANDWIDTH)
