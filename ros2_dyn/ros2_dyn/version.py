# SPDX-License-Identifier: Apache-2.0
"""The version of the installed package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Return the version of ros2_dyn, or "unknown" where it is not installed."""
    try:
        return version("ros2_dyn")
    except PackageNotFoundError:
        return "unknown"
