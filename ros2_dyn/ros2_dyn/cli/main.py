# SPDX-License-Identifier: Apache-2.0
"""The command `ros2_dyn`. Packages add their commands to it by entry points of the group `ros2_dyn.commands`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import entry_points
from types import ModuleType

from ros2_dyn.cli import audit, export, parameters
from ros2_dyn.errors import Ros2DynError

OURS = {"audit": audit, "export": export, "parameters": parameters}
"""Commands of this package."""


def commands() -> dict[str, ModuleType]:
    """Return the commands by name: modules with a docstring, `add_arguments` and `run`."""
    found = dict(OURS)
    for each in entry_points(group="ros2_dyn.commands"):
        try:
            found[each.name] = each.load()
        except ModuleNotFoundError as error:
            if error.name != each.module:
                raise
            # The package that is installed has the command, and the one that is imported has it not any more.
    return dict(sorted(found.items()))


def _restart_with_one_thread() -> None:
    """Start this process anew, with linear algebra in one thread, unless the user has chosen a number.

    Threads that share busy cores wait for each other: beside four processes on two cores, the doctor took twelve times
    as long with them, and on idle cores it is no faster. NumPy, which is imported by now, has read the variable. Our
    own commands have little to compute, and answer at once.
    """
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; return its exit status, or 1 where the input or a file is wrong, which one line says."""
    if arguments is None and OURS.keys().isdisjoint(sys.argv[1:2]):
        _restart_with_one_thread()
    parser = argparse.ArgumentParser(prog="ros2_dyn", description="Rigid-body dynamics of robot arms.")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in commands().items():
        about = (module.__doc__ or "").split("\n\n")[0].split(": ", 1)[-1]
        command = subparsers.add_parser(name, help=about, description=about)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen) or 0
    except (Ros2DynError, OSError) as error:
        print(f"ros2_dyn: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
