# SPDX-License-Identifier: Apache-2.0
"""`make doctor-calibration`: how many of the findings are right that the doctor tells with some confidence.

Recordings are of simulated arms of all kinds that the campaign has, with errors of all kinds, and none, one or two
faults. What is told wrongly is printed.
"""

from __future__ import annotations

import argparse
from collections import Counter

from any_arms import any_arm
from ros2_dyn.errors import InputError
from ros2_dyn_tools.doctor import diagnose
from wrong_recordings import Wrong

BORDERS = (0.5, 0.7, 0.9, 0.99)
"""Confidences between which findings are counted together."""


def main() -> None:
    """Print the curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=100, help="of the first one")
    arguments = parser.parse_args()
    told, right = Counter[int](), Counter[int]()
    for seed in range(arguments.seed, arguments.seed + arguments.recordings):
        case = any_arm(seed)
        try:
            findings = diagnose(case.description, case.recording).findings
        except InputError as refused:
            print(f"{seed} {case.name}: {refused}", flush=True)
            continue
        for found in findings:
            if found.code == "ok":
                continue
            group = sum(found.confidence > border for border in BORDERS[:-1]) + (found.confidence >= BORDERS[-1])
            told[group] += 1
            right[group] += case.right(found)
            if not case.right(found):
                done = {k: value for k, value in vars(case.what).items() if value != getattr(Wrong(), k)}
                print(f"{seed} {case.name} {done or 'nothing'}: {found[:4]} {found.evidence}", flush=True)
    print("\n| confidence | told | right |\n| --- | --- | --- |")
    for group, border in enumerate((0.0, *BORDERS)):
        print(f"| from {border} | {told[group]} | {right[group]} |")


if __name__ == "__main__":
    main()
