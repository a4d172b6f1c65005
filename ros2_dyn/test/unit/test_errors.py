# SPDX-License-Identifier: Apache-2.0
"""Errors that pass from one process to another."""

import pickle

import pytest

from ros2_dyn import errors

EVERY = [
    errors.ModelError("joint 'elbow'", "has no parent"),
    errors.InputError("q", "expected 6 numbers"),
    errors.MessageError("velocity", "wrong length", "got 5"),
    errors.ProcessError("failsafe", "ended"),
    errors.DivergenceError(1.5, "a velocity"),
    errors.ModeRefused("gravity", "no state"),
    errors.FailsafeError("no subscriber"),
    errors.ReplayDiffers(2, 7, 0.25),
]


def test_every_error_is_here():
    assert {type(error) for error in EVERY} == set(errors.Ros2DynError.__subclasses__())


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_error_comes_out_of_another_process_as_it_was(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
