# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn audit`: what is odd in a robot description, link by link, and what to do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from ros2_dyn.audit import audit_file
from ros2_dyn.model import Finding

SEVERITIES = ("error", "warning", "note")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings, too, and not for errors alone")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if there is an error, or a warning where it is strict."""
    findings = audit_file(arguments.urdf)
    if arguments.json:
        print(json.dumps({"findings": [each._asdict() for each in findings]}, indent=2))
    else:
        _print(findings)
    bad = {"error", "warning"} if arguments.strict else {"error"}
    return int(any(each.severity in bad for each in findings))


def _print(findings: Sequence[Finding]) -> None:
    if not findings:
        print("nothing is odd")
        return
    for each in findings:
        print(f"{each.severity:7} {each}")
    print(", ".join(f"{sum(each.severity == kind for each in findings)} {kind}s" for kind in SEVERITIES))
