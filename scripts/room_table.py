# SPDX-License-Identifier: Apache-2.0
"""`make rooms`: files, lines and imports of each room, and what the project has grown to."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from graphlib import CycleError
from pathlib import Path

from rooms import CORE, PACKAGES, TOOLS, TOP, arrows, files_of, order, room_folders

BESIDE_AN_ARM = ("ros2_dyn.control", "ros2_dyn.runtime", "ros2_dyn.simulation", "ros2_dyn.ros")


def lines_of(files: Iterable[Path]) -> int:
    """Return how many lines files have together."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def constants_of(files: Iterable[Path]) -> int:
    """Return how many upper-case names the modules assign at their top."""
    pattern = re.compile(r"^[A-Z][A-Z0-9_]+(?:, [A-Z][A-Z0-9_]+)*(?::[^=]+)? = ", re.MULTILINE)
    found = (match[0] for file in files for match in pattern.finditer(file.read_text(encoding="utf-8")))
    return sum(match.split("=")[0].split(":")[0].count(",") + 1 for match in found)


def parameters() -> int:
    """Return how many parameters the node has, by its generated page."""
    page = (TOP / "docs" / "parameters.md").read_text(encoding="utf-8")
    return len(re.findall(r"^\| `[\w.]+` \|", page, re.MULTILINE))


def print_totals() -> None:
    """Print what the project has grown to."""
    tests = [*TOP.glob("*/test/**/*.py")]
    outside = [file for file in TOP.rglob("*.py") if ".ros2" not in file.parts and file not in set(tests)]
    beside = [file for room in BESIDE_AN_ARM for file in files_of(room_folders()[room])]
    longest = max((file for package in PACKAGES for file in files_of(package)), key=lambda file: lines_of([file]))
    groups = {
        "ros2_dyn, beside an arm": files_of(CORE),
        "of it control, runtime, simulation, ros": beside,
        "ros2_dyn_tools, at the desk": files_of(TOOLS),
        "both packages": [*files_of(CORE), *files_of(TOOLS)],
        "all Python outside tests": outside,
        "tests": tests,
    }
    for name, files in groups.items():
        print(f"{name:42}{len(files):5} files{lines_of(files):7} lines")
    print(f"longest file: {longest.name}, {lines_of([longest])} lines")
    print(f"upper-case constants in control, runtime, simulation, ros: {constants_of(beside)}")
    print(f"parameters of the node: {parameters()}")


def main() -> int:
    """Print files, lines and arrows of each room; return 1 where there is a circle."""
    found = arrows()
    try:
        ordered = order(found)
    except CycleError as error:
        print(f"rooms import each other in a circle: {' -> '.join(error.args[1])}")
        return 1
    folders = room_folders()
    print(f"{'room':30}{'files':>6}{'lines':>7}  {'longest file':38}imports from (times)")
    for room in ordered:
        files = {file: lines_of([file]) for file in files_of(folders[room])}
        longest = max(files, key=lambda file: files[file])
        targets = ", ".join(f"{each.split('.')[1]} {found[room, each]}" for each in ordered if found[room, each])
        print(f"{room:30}{len(files):6}{sum(files.values()):7}  {f'{longest.name} {files[longest]}':38}{targets}")
    print("no circles\n")
    print_totals()
    return 0


if __name__ == "__main__":
    sys.exit(main())
