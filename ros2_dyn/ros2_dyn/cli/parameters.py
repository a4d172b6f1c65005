# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn parameters`: the parameters of the node, as its parameter file or as a page of the documentation."""

from __future__ import annotations

import argparse

from ros2_dyn.cli.settings_page import parameter_file, parameter_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--yaml", action="store_true", help="print config/dynamics.yaml (the default)")
    shape.add_argument("--page", action="store_true", help="print docs/parameters.md")


def run(arguments: argparse.Namespace) -> None:
    """Print the text."""
    print(parameter_page() if arguments.page else parameter_file(), end="")
