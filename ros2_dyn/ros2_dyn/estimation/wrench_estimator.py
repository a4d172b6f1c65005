"""From external joint efforts to where they come from: the link that was touched, and the wrench at the tip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import singular_values
from ros2_dyn.model import BASE, RobotModel


class ContactLink(NamedTuple):
    """The link that was touched, or why it cannot be told."""

    link: str
    """Empty: it cannot be told."""
    reason: str


class TipWrench(NamedTuple):
    """[force; moment] that the surroundings exert on the tip, N and N m, or why it cannot be told."""

    wrench: tuple[float, ...]
    """Empty: it cannot be told."""
    reason: str


DISTINCT = 1.5
"""Residual over threshold from which on the outermost joint above its threshold is trusted."""


def isolate_contact(model: RobotModel, residual: Sequence[float], threshold: Sequence[float]) -> ContactLink:
    """The link that the outermost joint with a residual above its threshold moves.

    A force on a link is felt by no joint outside of it, and most often by that which moves it; but a force whose line
    passes near that joint's axis is felt further in only. So this is the innermost link that can have been touched.

    Args:
        model: the robot.
        residual: external joint efforts, N m or N, shape (n,).
        threshold: of each joint, N m or N, shape (n,).
    """
    felt = [abs(r) / e if e > 0 else 0.0 for r, e in zip(residual, threshold)]
    bodies = [i for i, joint in enumerate(model.joints) if max(felt[model.v_slices[i]], default=0.0) > 1]
    if not bodies:
        return ContactLink("", "no joint exceeds its threshold")
    outermost = bodies[-1]  # bodies are numbered outwards
    inner = set(_path(model, outermost))
    if strangers := [model.joints[i].name for i in bodies if i not in inner]:
        return ContactLink("", f"{strangers[0]} exceeds its threshold, too, on another branch: more than one contact")
    if max(felt[model.v_slices[outermost]]) < DISTINCT:
        return ContactLink("", f"{model.joints[outermost].name} hardly exceeds its threshold")
    return ContactLink(model.child_links[outermost], "")


def _path(model: RobotModel, body: int) -> list[int]:
    """A body and those between it and the base."""
    path = []
    while body != BASE:
        path.append(body)
        body = model.lambda_[body]
    return path


def tip_wrench(
    jacobian: ArrayLike, residual: ArrayLike, damping: float = 0.01, min_singular_value: float = 0.02
) -> TipWrench:
    """``F`` with ``J^T F = residual``, by damped least squares: ``F = (J J^T + damping^2 1)^-1 J residual``.

    It is right if all that touches the robot touches it at the tip.

    Args:
        jacobian: of the tip, shape (6, n), linear rows first; F is in the same axes.
        residual: external joint efforts, N m or N, shape (n,).
        damping: of singular values; those much greater are not changed.
        min_singular_value: below it the wrench is withheld.
    """
    J = np.asarray(jacobian, dtype=float)
    if J.shape[1] < 6:
        return TipWrench((), f"{J.shape[1]} joints do not tell the six numbers of a wrench")
    smallest = float(singular_values(J)[-1])
    if smallest < min_singular_value:
        return TipWrench(
            (), f"near a singularity: smallest singular value {smallest:.3g}, below {min_singular_value:.3g}"
        )
    F = np.linalg.solve(J @ J.T + damping**2 * np.eye(6), J @ np.asarray(residual, dtype=float))
    return TipWrench(tuple(F.tolist()), "")
