# SPDX-License-Identifier: Apache-2.0
"""What a stop has found out about the arm, for another process that goes on with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array


class StopHandover(NamedTuple):
    """Where a stop stands. The model may have proved wrong, and who goes on must not begin with it again."""

    stage: int = 0
    """Number of escalations, see `StopSupervision`; from 1 on, the model's gravity does not carry the arm."""
    anchor: Array | None = None
    """Where the arm is held, rad or m, shape (n,); None: nowhere yet."""
    withdrawn: Array | None = None
    """Which joints are left without effort, shape (n,), bool; None: none."""
    rest_q: Array | None = None
    """Where the arm last stood still, rad or m, shape (n,); None: nowhere yet."""
    rest_effort: Array | None = None
    """Effort that held it there, as it would be commanded, N m or N, shape (n,)."""

    def numbers(self, n: int) -> Array:
        """Return it as numbers, shape (1 + 4 n,), for n joints."""
        unknown = np.full(n, np.nan)
        return np.concatenate([[self.stage], *(unknown if each is None else each for each in self[1:])])

    @classmethod
    def of(cls, numbers: Array) -> StopHandover:
        """Return what `numbers` has made of it."""
        anchor, withdrawn, rest_q, rest_effort = (
            None if np.isnan(each[0]) else each for each in np.reshape(numbers[1:], (4, -1))
        )
        return cls(int(numbers[0]), anchor, None if withdrawn is None else withdrawn != 0, rest_q, rest_effort)


NOTHING_FOUND = StopHandover()
"""Before any stop."""
