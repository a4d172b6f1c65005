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
from ros2_dyn_tools.doctor import Diagnosis, Note, Report, diagnose
from ros2_dyn_tools.identification.identification import Estimate, Identification, Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.known_load import common_gain
from ros2_dyn_tools.passport.drift import friction_at
from ros2_dyn_tools.passport.felt_forces import FeltForce, Watch, felt_forces
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import unbroken
from ros2_dyn_tools.report.contact_report import CollisionReport
from ros2_dyn_tools.report.effort_report import EffortReport, effort_report

CONFIDENT = 0.9
"""Confidence of a finding of the doctor, from which on it is used."""
TO_MEND_FIRST = ("degrees", "joint_order", "external_only", "gravity_compensated")
"""Findings with which nothing can be identified."""
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
    efforts: EffortReport | None
    """How far the efforts are explained in the part that no model was fitted to; None where it is too short."""
    felt: list[FeltForce]
    """The smallest forces that are felt; empty where that is not told."""
    unfelt: str
    """Why that is not told."""

    @property
    def contact(self) -> CollisionReport | None:
        """What a collision detector makes of that part; None where it has no thresholds."""
        return None if self.efforts is None else self.efforts.contact


def passport(
    model: RobotModel,
    as_recorded: Recording,
    recordings: Sequence[Recording],
    *,
    options: Options,
    effort_gain: Array,
    tip: str | None = None,
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
        tip: link at which forces are told; the model's `default_tip` for None.
        load: a motion with a load of known mass.
        progress: is called now and then.

    Raises:
        InputError: what `diagnose`, `identify` and `common_gain` raise, or something has to be mended first.
    """
    progress("doctor", 0.0)
    report = diagnose(model, as_recorded, effort_gain)
    for each in report.findings:
        if each.code in TO_MEND_FIRST:
            raise InputError("recording", f"the doctor finds {each.code}: {each.evidence}; {each.remedy}")
    sure = [each for each in report.findings if each.confidence >= CONFIDENT]
    effort_gain = effort_gain * _factors(model, report)
    motions = [_times(each, effort_gain) for each in recordings]
    found = identify(model, motions, options, progress)
    for each in sure:
        if each.code == "mounting":  # masses that are wrong look alike: what predicts better counts
            leaning = identify(model, motions, _standing(options, each), progress)
            found = min(found, leaning, key=lambda one: float(np.sum(np.log(one.held_out))))
    payload = report.hypothesis.load if any(each.code == "payload" for each in sure) else ()
    gain = None
    if load is not None:
        gain = common_gain(found, motions[0], _times(load.recording, effort_gain), load.mass)
        effort_gain = effort_gain * gain.value
        motions = [_times(each, effort_gain) for each in recordings]
        found = identify(model, motions, found.options, progress)
        payload = ()  # it was told by another gain
    progress("contact", 1.0)
    efforts, felt, problem = _detection(model, found, motions, tip)
    return Passport(
        model=model,
        findings=report.findings,
        notes=report.notes,
        effort_gain=effort_gain,
        payload=payload,
        gain=gain,
        identification=found,
        slow_friction=friction_at(found.model, np.full(model.n, SLOW), as_recorded.q, found.gravity),
        efforts=efforts,
        felt=felt,
        unfelt=problem,
    )


def _times(recording: Recording, gain: Array) -> Recording:
    return recording._replace(effort=recording.effort * gain)


def _standing(options: Options, mounting: Diagnosis) -> Options:
    x, y, z = np.asarray(mounting.value, dtype=float).tolist()
    return replace(options, gravity=(x, y, z))


def _factors(model: RobotModel, report: Report) -> Array:
    """Return what the doctor's signs and gains multiply the efforts with, as far as all that is told of one is sure."""
    units, factors = report.hypothesis.units(model), np.ones(model.n)
    for code, values in (("sign", np.sign(units)), ("gain", np.abs(units))):
        for i, name in enumerate(model.joint_names):
            told = [each.confidence for each in report.findings if each.code == code and each.joint in (None, name)]
            if told and min(told) >= CONFIDENT:
                factors[i] *= values[i]
    return factors


def _detection(
    model: RobotModel, found: Identification, recordings: Sequence[Recording], tip: str | None
) -> tuple[EffortReport | None, list[FeltForce], str]:
    """Return how the last recording is explained, what is felt in all of it, or why that is not told.

    Thresholds are those of what was fitted of it, the rest is judged; of its first half, if none of it was fitted.
    """
    driver = found.settings.effort_filter
    try:
        report = effort_report(
            model,
            recordings[-1],
            found.model,
            calibrate_on=_fitted_share(recordings, found.options.split.start),
            gravity=found.options.gravity,
            conditions=Conditions(tuple(found.gravity.tolist()), driver),
        )
    except InputError as error:
        return None, [], str(error)
    contact = report.contact
    if contact is None:
        return report, [], report.no_contact
    try:
        return report, felt_forces(found.model, Watch.of(contact, driver), tip), ""
    except InputError as error:
        return report, [], str(error)


def _fitted_share(recordings: Sequence[Recording], start: float) -> float:
    """Return which share of the last recording was fitted, or a half for none: gaps count as no time there."""
    lengths = [[part.t[-1] - part.t[0] for part in unbroken(each)] for each in recordings]
    border = start * sum(map(sum, lengths)) - sum(map(sum, lengths[:-1]))
    for part, length in zip(unbroken(recordings[-1]), lengths[-1]):
        if 0 < border <= length:
            return float((part.t[0] + border) / recordings[-1].t[-1])
        border -= length
    return 0.5
