# SPDX-License-Identifier: Apache-2.0
"""`make doctor-table`: recordings made wrong in each way and in two ways at once, and what the doctor says of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from doctor_cases import frictional, pairs_of_faults, single_faults, untouched
from doctor_grades import UNITS, Arm, Code, Grade, codes_of, grade, tool_at
from real_arms import REAL_ARMS, real_arm
from recordings import synthetic_recording
from robots import example_robots, mock_arm
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.doctor import CODES, Diagnosis, diagnose
from ros2_dyn_tools.recording.recording import Recording
from wrong_recordings import Wrong, wrong_recording

SIMULATED = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
}
"""Robots of example-robot-data whose simulated arms are shown to the doctor, too."""
Row = tuple[str, str, str, Grade]
"""Arm, what was done, what was said, and how right that is."""


def arms(names: list[str]) -> Iterator[tuple[str, RobotModel, Recording]]:
    """Yield the arms and their recordings: real ones where these are at hand, then simulated ones."""
    for name in REAL_ARMS:
        if name in names:
            try:
                yield (name, *real_arm(name))
            except pytest.skip.Exception as reason:
                print(f"{name} is left out: {reason}")
    models = {"mock": mock_arm} | {
        name: lambda path=path: RobotModel.from_urdf_file(example_robots() / path) for name, path in SIMULATED.items()
    }
    for seed, (name, load) in enumerate(models.items()):
        if name in names:
            model = load()
            yield name, model, synthetic_recording(model, seed)


def rows(names: list[str], only: str, stride: int) -> Iterator[Row]:
    """Yield what was done and said, case by case."""
    for name, model, recording in arms(names):
        arm = Arm(tool_at(model, recording), frictional(model, recording))
        print(f"\n{name}: {arm.tool:+.2f} kg at the tip fit the untouched recording best", flush=True)
        print(f"joints with much friction: {', '.join(str(j + 1) for j in sorted(arm.frictional)) or 'none'}")
        faults = {**single_faults(model.n), **pairs_of_faults(model.n)}
        cases = {f"untouched, {part}": (Wrong(), each) for part, each in untouched(recording).items()}
        cases |= {done: (what, wrong_recording(model, recording, what)) for done, what in faults.items()}
        chosen = [(done, *case) for done, case in cases.items() if only in done][::stride]
        for done, what, wrong in chosen:
            findings = diagnose(model, wrong).findings
            result = grade(model, what, findings, arm)
            said = ", ".join(_told(key, each) for key, each in codes_of(model, findings).items())
            yield name, done, said, result
            print(f"{_verdict(result):9} {done:42} {said} {_errors(result)}", flush=True)


def _told(key: Code, found: Diagnosis) -> str:
    number = f" {found.value:.3g}" if isinstance(found.value, float) else ""
    return f"{key[0]}{'' if key[1] is None else f' {key[1] + 1}'}{number} ({found.confidence:.2f})"


def _verdict(result: Grade) -> str:
    kinds = {"missed": result.missed, "false": result.false, "far": result.far}
    wrong = " ".join(kind for kind, found in kinds.items() if found)
    return wrong or ("right" if result.told == result.done else "untold")


def _errors(result: Grade) -> str:
    return " ".join(f"[{key[0]} off by {error:.3g} {UNITS[key[0]][0]}]" for key, error in result.errors.items())


def summary(found: list[Row]) -> str:
    """Return a Markdown table: by code, how often it had to be told, was told, and how far off its numbers were."""
    lines = ["| code | done | told | missed | told in error | median error | largest error |", "| " + "--- | " * 7]
    grades = [each[3] for each in found]

    def count(code: str, part: str) -> int:
        return sum(key[0] == code for each in grades for key in getattr(each, part))

    for code in CODES:
        if not count(code, "done") + count(code, "false"):
            continue
        errors = [abs(error) for each in grades for key, error in each.errors.items() if key[0] == code]
        unit = UNITS.get(code, ("", 0.0))[0]
        sizes = [f"{size:.2g} {unit}" for size in (np.median(errors), np.max(errors))] if errors else ["", ""]
        counts = " | ".join(str(count(code, part)) for part in ("done", "told", "missed", "false"))
        lines.append(f"| `{code}` | {counts} | {sizes[0]} | {sizes[1]} |")
    verdicts = [_verdict(each) for each in grades]
    told = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts))
    return "\n".join([*lines, "", f"of {len(grades)} recordings {told}"])


def main() -> None:
    """Print the table, and write it as JSON where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", nargs="+", default=[*REAL_ARMS, "mock", *SIMULATED])
    parser.add_argument("--only", default="", help="part of what is done")
    parser.add_argument("--stride", type=int, default=1, help="every so many of the cases")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = list(rows(arguments.arms, arguments.only, arguments.stride))
    for arm in dict.fromkeys(each[0] for each in found):
        print(f"\n{arm}\n\n" + summary([each for each in found if each[0] == arm]))
    print("\nall arms\n\n" + summary(found))
    if arguments.json:
        arguments.json.write_text(json.dumps([(arm, done, said, _verdict(each)) for arm, done, said, each in found]))


if __name__ == "__main__":
    main()
