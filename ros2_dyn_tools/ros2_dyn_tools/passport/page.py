# SPDX-License-Identifier: Apache-2.0
"""A passport as one HTML page for a person: two or three sheets in print, without network and scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from html import escape

import numpy as np

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.passport.drift import Drift
from ros2_dyn_tools.passport.felt_forces import AXES, FeltForce
from ros2_dyn_tools.passport.passport import SLOW, Passport
from ros2_dyn_tools.passport.paste import lines
from ros2_dyn_tools.recording.effort_split import effort_units
from ros2_dyn_tools.recording.gate import Check, rows
from ros2_dyn_tools.report.html_page import STYLE, table_element
from ros2_dyn_tools.report.tables import Table, number

SHEETS = """
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f5f5f5; padding: 0.5rem; font-size: 0.85rem; }
.text td, .text th { white-space: normal; text-align: left; }
.bar { display: inline-block; height: 0.7rem; background: #1f6fb2; vertical-align: middle; }
@media print { @page { size: A4; margin: 12mm; } body { font-size: 11px; padding: 0; max-width: none; }
  h1 { font-size: 1.5rem; } h2 { margin: 1rem 0 0.2rem; break-after: avoid; } p { margin: 0.3rem 0; max-width: none; }
  .table { margin: 0 0 0.5rem; break-inside: avoid; overflow: visible; } th, td { padding: 0.1rem 0.5rem; } }
"""


def page(
    found: Passport,
    recordings: Mapping[str, list[Check]],
    made: date,
    changed: Drift | None = None,
    no_curves: str = "",
) -> str:
    """Return the page.

    Args:
        found: the passport.
        recordings: what it was made from, and what each is good for.
        made: when.
        changed: since an earlier passport; None without one.
        no_curves: why there is no page of the efforts beside this one; empty if there is.
    """
    title = escape(f"{found.model.name}: passport")
    facts = escape(f"Made on {made:%Y-%m-%d} from {', '.join(recordings)}.")
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{STYLE}{SHEETS}</style></head><body>",
            f'<h1>{title}</h1><p class="facts">{facts}</p>',
            *_recordings(recordings),
            *_meaning(found),
            *_model(found, no_curves),
            *_felt(found),
            *_drift(found, changed),
            *_paste(found),
            "</body></html>\n",
        ]
    )


def _text(*sentences: str) -> str:
    return f"<p>{escape(' '.join(sentences))}</p>"


def _words(table: Table) -> str:
    """Return the elements of a table that has words where others have numbers."""
    return f'<div class="text">{table_element(table)}</div>'


def _recordings(recordings: Mapping[str, list[Check]]) -> Iterator[str]:
    yield "<h2>Is the recording good enough?</h2>"
    header = ("subject", "joints", "found", "record instead")
    for name, checks in recordings.items():
        told = tuple((each.subject, joints, each.told, each.instead) for each, joints in rows(checks))
        yield _words(Table(name, header, told))


def _meaning(found: Passport) -> Iterator[str]:
    """What one unit of the driver's effort is, and what else was wrong."""
    yield "<h2>What the efforts mean</h2>"
    told = tuple((each.code, each.joint or "", f"{each.confidence:.2f}", each.evidence) for each in found.findings)
    yield _text("What has a confidence of 0.9 and more is used; a base that leans, if it predicts the efforts better.")
    yield _words(Table("What the doctor finds", ("finding", "joint", "confidence", "evidence"), told))
    yield from (_text(f"Besides, {each.text}.") for each in found.notes if each.subject == "payload")
    if np.any(found.effort_gain != 1.0):
        joints = tuple((name, f"{gain:.4g}") for name, gain in zip(found.model.joint_names, found.effort_gain.tolist()))
        header = ("joint", "N m or N per unit of effort")
        yield table_element(Table("What the efforts are multiplied with here", header, joints))
    else:
        yield _text("Efforts are taken as they are, in N m or N.")
    if found.gain is None:
        yield _text("A gain of all joints is not told by one motion: it would take a load of known mass (--load).")
    else:
        share = found.gain.error / found.gain.value
        yield _text(f"The known load told the gain of all joints with a standard error of {share:.1%}.")


def _model(found: Passport, no_curves: str) -> Iterator[str]:
    told = found.identification
    yield "<h2>How well the model explains the arm</h2>"
    tested = bool(np.all(np.isfinite(told.tested)))
    errors = told.tested if tested else told.held_out
    where = "the last third, which no model was fitted to" if tested else "folds that were predicted by the others"
    tilt = _degrees(told.gravity, np.array(STANDARD_GRAVITY))
    yield _text(
        f"Root mean square of measured less modelled effort, in {where}. The filter of the efforts, as "
        f"found: {told.settings.effort_filter}. The base leans by {tilt:.1f} degrees."
    )
    units = effort_units(told.model)
    names = told.model.joint_names
    joints = tuple(
        (name, unit, number(before), number(now), f"{100 * (1 - (now / max(before, 1e-9)) ** 2):.0f} %")
        for name, unit, before, now in zip(names, units, told.before.tolist(), errors.tolist())
    )
    header = ("joint", "unit", "described", "identified", "explained of that")
    yield table_element(Table("Error of the effort", header, joints))
    if no_curves:
        yield _text(f"The efforts are not drawn: {no_curves}")
    else:
        yield '<p><a href="efforts.html">efforts.html</a> shows the efforts joint by joint, as curves.</p>'
    joints = tuple(
        (name, number(at), *_friction(found, name), number(joint.dynamics.armature))
        for name, at, joint in zip(names, found.slow_friction.tolist(), told.model.joints)
    )
    header = ("joint", f"friction at {SLOW:g}", "Coulomb ± error", "viscous ± error", "rotor")
    yield table_element(Table("Friction and rotors, in N m, rad/s and kg m^2, or N, m/s and kg", header, joints))


def _friction(found: Passport, joint: str) -> tuple[str, str]:
    told = {each.name: f"{number(each.value)} ± {number(each.error)}" for each in found.identification.joints[joint]}
    return told.get("coulomb", "none"), told.get("viscous", "none")


def _felt(found: Passport) -> Iterator[str]:
    yield "<h2>The smallest force that is felt</h2>"
    if found.contact is None or not found.felt:
        yield _text(f"Not told: {found.unfelt}")
        return
    seconds = found.contact.recording.t[-1] - found.contact.recording.t[0]
    yield _text(
        "Nine of ten pushes of this force are felt within half a second. The delay is that of twice the force, to one",
        "state of the recording. Thresholds are set for one false alarm in 100 hours; so short a recording cannot show",
        f"that: in the {seconds:.0f} s that no model was fitted to, there were {len(found.contact.alarms)}.",
    )
    if found.identification.settings.effort_filter.kind == "zero_phase":
        yield _text(
            "The efforts were filtered after they were recorded, which no node can do: there, noise and thresholds are",
            "larger. Calibrate on the live arm.",
        )
    here = {each.direction: each for each in found.felt if not each.joint}
    shown = [here[each].force for each in (*AXES, "easiest", "hardest")]
    most = max((force for force in shown if np.isfinite(force)), default=1.0)
    bars = "".join(_bar(f"along {axis}", here[axis], most) for axis in AXES)
    bars += _bar("hardest of 26", here["hardest"], most) + _bar("easiest of 26", here["easiest"], most)
    head = "<tr><th>direction, base axes</th><th>force, N</th><th>delay, ms</th><th></th></tr>"
    caption = f'<p class="caption">At the tip, {escape(here[AXES[0]].link)}</p>'
    yield f'{caption}<div class="table"><table><thead>{head}</thead><tbody>{bars}</tbody></table></div>'
    ends = {(each.link, each.joint, each.direction): each for each in found.felt if each.joint}
    places = dict.fromkeys((link, joint) for link, joint, _ in ends)
    table = tuple(
        (link, joint, *(_force(ends[link, joint, direction]) for direction in ("easiest", "hardest", *AXES)))
        for link, joint in places
    )
    header = ("link", "at joint", "easiest", "hardest", *(f"along {axis}" for axis in AXES))
    yield table_element(Table("At the far end of each link, N", header, table))
    rows_of = zip(found.model.joint_names, found.contact.thresholds)
    table = tuple((name, number(level)) for name, level in rows_of)
    yield table_element(Table("Thresholds of the external effort, N m or N", ("joint", "threshold"), table))


def _force(each: FeltForce) -> str:
    return number(each.force) if np.isfinite(each.force) else "not felt"


def _bar(name: str, each: FeltForce, most: float) -> str:
    known = np.isfinite(each.force)
    width = 12 * each.force / most if known else 0.0
    delay = f"{1e3 * each.delay:.0f}" if np.isfinite(each.delay) else "none"
    bar = f'<td style="text-align: left"><span class="bar" style="width: {width:.2f}rem"></span></td>'
    return f'<tr><th scope="row">{escape(name)}</th><td>{_force(each)}</td><td>{delay}</td>{bar}</tr>'


def _drift(found: Passport, changed: Drift | None) -> Iterator[str]:
    if changed is None:
        return
    yield "<h2>What has changed</h2>"
    if changed.payload:
        mass, *com = changed.payload
        where = ", ".join(f"{x:.3f}" for x in com)
        yield _text(f"The weight has changed as by {mass:+.2f} kg at [{where}] m in the axes of the tip.")
    yield _text("Friction changes with temperature, too: compare at working temperature.")
    then, now = changed.friction
    columns = (changed.speed, then, now, now - then, changed.weight)
    numbers = zip(*(column.tolist() for column in columns))
    joints = tuple((name, *map(number, row)) for name, row in zip(found.model.joint_names, numbers))
    header = ("joint", "speed", "friction then", "now", "change", "change of weight")
    yield table_element(Table("Friction at the recording's speeds, and weight, N m or N", header, joints))


def _paste(found: Passport) -> Iterator[str]:
    yield "<h2>To paste</h2>"
    if found.payload:
        yield _text(f"The payload is in the axes of {found.model.default_tip}; drivers may want it in the flange's.")
    for each in lines(found):
        yield f'<p class="caption">{escape(each.whom)}</p><pre>{escape(each.text)}</pre>'
    yield _text("arm.urdf and arm.yaml, beside this page, are what the node, the tools and the controllers read.")


def _degrees(a: Array, b: Array) -> float:
    """Return the angle between two vectors."""
    return float(np.degrees(np.arccos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1.0, 1.0))))
