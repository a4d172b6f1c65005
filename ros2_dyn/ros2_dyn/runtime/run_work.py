# SPDX-License-Identifier: Apache-2.0
"""Drives a runtime where nothing is slow and nothing can die: in tests, notebooks and processes of one thread."""

from __future__ import annotations

from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.inputs import FailsafeArmed
from ros2_dyn.runtime.update import Update


def run_work(runtime: ArmRuntime, update: Update, now: float) -> Update:
    """Do all the work that an update asks for in this thread, and return the last update of it.

    A failsafe process that is asked for counts as armed: where nothing can die, none is needed.

    Raises:
        Ros2DynError: a reply refuses the request.
    """
    while update.work or update.failsafe is not None:
        if update.failsafe is not None:
            update = runtime.step(FailsafeArmed(update.failsafe), now)
        else:
            update = runtime.step(update.work[0].run(), now)
    for reply in update.replies:
        if reply.error is not None:
            raise reply.error
    return update
