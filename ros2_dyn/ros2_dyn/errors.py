# SPDX-License-Identifier: Apache-2.0
"""Errors of ros2_dyn: one base class, and subclasses that carry the details as data."""

MAX_TEXT = 1000
"""Characters of each part of an error's text. What is wrong may be as long as anybody sends it: a name of megabytes."""


def shorten(text: str, length: int = MAX_TEXT) -> str:
    """Return a text of printable lines, or its beginning and its end where it is longer than a number of characters."""
    if len(text) > length:
        half = (length - 5) // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return "\n".join(map(printable, text.split("\n")))


def printable(text: str) -> str:
    r"""Return a text of one line in which what would steer a terminal is written out, such as ``\x1b``."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Ros2DynError(Exception):
    """Base class of all errors of ros2_dyn.

    The attributes of each are the arguments that it was made with, in their order.
    """

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Let an error pass from one process to another, which the text alone does not suffice for."""
        return type(self), tuple(value for name, value in vars(self).items() if not name.startswith("_"))


class ModelError(Ros2DynError):
    """The robot description cannot be made into a model.

    Attributes:
        element: the wrong element as the user knows it: ``"joint 'elbow'"``, ``"link 'tool0'"`` or ``"robot"``.
        problem: the fault of the element, and what was expected.
    """

    def __init__(self, element: str, problem: str) -> None:
        element, problem = shorten(element), shorten(problem)
        super().__init__(f"{element}: {problem}")
        self.element = element
        self.problem = problem


class InputError(Ros2DynError, ValueError):
    """An argument of a computation has a wrong shape, is not finite, or is an unknown name.

    Attributes:
        argument: the name of the argument.
        problem: the fault of the argument, and what was expected.
    """

    def __init__(self, argument: str, problem: str) -> None:
        argument, problem = shorten(argument), shorten(problem)
        super().__init__(f"{argument}: {problem}")
        self.argument = argument
        self.problem = problem


class MessageError(Ros2DynError):
    """A message cannot be used.

    Attributes:
        field: the wrong field of the message.
        reason: a short constant phrase by which rejected messages are counted, such as ``"joint missing"``.
        detail: the joint, length or value that was found, and what was expected.
    """

    def __init__(self, field: str, reason: str, detail: str) -> None:
        field, detail = shorten(field), shorten(detail)
        super().__init__(f"{field}: {reason}: {detail}")
        self.field = field
        self.reason = reason
        self.detail = detail


class ProcessError(Ros2DynError):
    """A child process failed.

    Attributes:
        process: the name of the process.
        problem: how the process ended, and its last output.
    """

    def __init__(self, process: str, problem: str) -> None:
        process, problem = shorten(process), shorten(problem)
        super().__init__(f"{process}: {problem}")
        self.process = process
        self.problem = problem


class DivergenceError(Ros2DynError):
    """A simulation became numerically unstable.

    Attributes:
        t: simulated time of the failure, s.
        problem: the quantity that diverged, and a remedy.
    """

    def __init__(self, t: float, problem: str) -> None:
        super().__init__(f"t = {t:.3f} s: {problem}")
        self.t = t
        self.problem = problem


class ModeRefused(Ros2DynError):
    """A mode cannot be entered.

    Attributes:
        mode: the mode.
        problem: the condition that does not hold, and what to do about it.
    """

    def __init__(self, mode: str, problem: str) -> None:
        mode, problem = shorten(mode), shorten(problem)
        super().__init__(f"{mode}: {problem}")
        self.mode = mode
        self.problem = problem


class FailsafeError(Ros2DynError):
    """The process that takes over if the node dies is not ready.

    Attributes:
        problem: what happened.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"the failsafe process did not start: {problem}")
        self.problem = problem


class ReplayDiffers(Ros2DynError):
    """A replay decided otherwise than the runtime that was recorded.

    Attributes:
        different: number of inputs at which it did.
        inputs: number of inputs.
        first: time of the first one, s.
    """

    def __init__(self, different: int, inputs: int, first: float) -> None:
        super().__init__(f"{different} of {inputs} decisions differ, the first at {first:.4f} s")
        self.different = different
        self.inputs = inputs
        self.first = first
