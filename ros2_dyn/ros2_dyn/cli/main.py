# SPDX-License-Identifier: Apache-2.0
"""The command `ros2_dyn`."""

from __future__ import annotations

import argparse
import sys

from ros2_dyn.cli import (
    audit,
    campaign,
    card,
    collision_report,
    doctor,
    excite,
    export,
    identify,
    layouts,
    parameters,
    replay,
    report,
    retime,
    view,
)
from ros2_dyn.errors import Ros2DynError

COMMANDS = {
    "audit": audit,
    "card": card,
    "collision-report": collision_report,
    "campaign": campaign,
    "doctor": doctor,
    "excite": excite,
    "export": export,
    "identify": identify,
    "layouts": layouts,
    "parameters": parameters,
    "replay": replay,
    "report": report,
    "retime": retime,
    "view": view,
}
"""Modules with a docstring, `add_arguments` and `run`, which may return an exit status, by their command."""


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; the exit status. An error of the input is one line."""
    parser = argparse.ArgumentParser(prog="ros2_dyn", description="Rigid-body dynamics of robot arms.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        about = (module.__doc__ or "").split(": ", 1)[-1]
        command = commands.add_parser(name, help=about, description=about)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen) or 0
    except Ros2DynError as error:
        print(f"ros2_dyn: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
