"""What is said of each parameter of a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.parameter import Parameter

DOUBLES, STRINGS = Parameter.Type.DOUBLE_ARRAY, Parameter.Type.STRING_ARRAY


@dataclass(frozen=True)
class Declaration:
    """One parameter; config/dynamics.yaml says the same with more words."""

    default: Any
    """Its default; or its type, for one that may be left out, and is None then."""
    description: str
    low: float = 0.0
    high: float | None = None
    """Greatest value of a number; None: no number, or one of any size."""
    read_only: bool = False
