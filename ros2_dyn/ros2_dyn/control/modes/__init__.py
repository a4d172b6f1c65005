# SPDX-License-Identifier: Apache-2.0
"""The modes of the arm, one in each file. A file in this folder is all that a new mode needs."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ros2_dyn.control.modes.base import AnyMode as AnyMode
from ros2_dyn.control.modes.base import Law as Law
from ros2_dyn.control.modes.base import Mode as Mode
from ros2_dyn.control.modes.base import Needs as Needs
from ros2_dyn.control.stop.phases import MONITOR as MONITOR
from ros2_dyn.control.stop.phases import STOPPED as STOPPED


def _modes() -> dict[str, type[AnyMode]]:
    files = sorted(each.name for each in iter_modules(__path__))
    found = [kind for file in files for kind in vars(import_module(f"{__name__}.{file}")).values()]
    modes = [kind for kind in found if isinstance(kind, type) and issubclass(kind, Mode) and kind is not Mode]
    return {mode.name: mode for mode in modes}


MODES = _modes()
"""Each mode by its name."""
HANDOVER_MODE = next(name for name, mode in MODES.items() if mode.needs.handover)
"""The name of the mode that holds the arm during a handover."""
