# SPDX-License-Identifier: Apache-2.0
"""Bounds of a robot description: what is beyond them is refused before anything is computed from it."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ros2_dyn.errors import ModelError
from ros2_dyn.model.link_spec import LinkSpec

MAX_TEXT = 2_000_000
"""Characters of a description. Humanoids with hands have some 300 000; the worst 2 000 000 take a third of a second."""
MAX_LINKS = 1000
"""Links of a robot, and joints. Humanoids with hands have some 200; 1000 take half a second."""
MAX_NAME = 256
"""Characters of the name of a robot, link or joint: names are repeated in messages, logs and errors."""
MAX_NUMBER = 1e9
"""Largest number of a body or of where it is, in m, kg and their products: what is computed from such is finite."""


def check_text(xml: str) -> None:
    """Check the text of a description before it is parsed.

    Raises:
        ModelError: it is too long, or it declares entities, whose expansion may be longer than any text.
    """
    if len(xml) > MAX_TEXT:
        raise ModelError("robot description", f"it is too long: expected at most {MAX_TEXT} characters")
    if "<!ENTITY" in xml:
        raise ModelError("robot description", "it declares XML entities, which are not expanded")


def check_elements(robot: Element) -> None:
    """Check the elements of a description before anything is made from them.

    Raises:
        ModelError: there are too many links or joints, or a name is too long, or more than a line.
    """
    for tag in ("link", "joint"):
        elements = robot.findall(tag)
        if len(elements) > MAX_LINKS:
            raise ModelError("robot", f"it has {len(elements)} {tag}s, expected at most {MAX_LINKS}")
        for element in elements:
            _check_name(tag, element)
    _check_name("robot", robot)


def _check_name(tag: str, element: Element) -> None:
    name = element.get("name", "")
    if len(name) > MAX_NAME:
        text = f"the name has {len(name)} characters, expected at most {MAX_NAME}"
        raise ModelError(f"{tag} '{name}'", text)
    if not name.isprintable():  # it would write lines of its own into files and terminals
        raise ModelError(f"{tag} {name!r}", "the name has ends of lines or other characters that cannot be printed")


def checked_link(spec: LinkSpec) -> LinkSpec:
    """Return a link with whose numbers one can compute.

    Raises:
        ModelError: a number is larger than any robot's, or the mass is too small for where it is.
    """
    body = spec.inertia
    numbers = np.hstack([body.mass, body.h, body.I_origin.ravel(), spec.X.r])
    if not np.abs(numbers).max() <= MAX_NUMBER:
        text = f"expected numbers of at most {MAX_NUMBER:g} in its <inertial> and in the <origin> of its joint"
        raise ModelError(f"link '{spec.link}'", text)
    with np.errstate(all="ignore"):
        computable = np.isfinite(body.I_com).all()
    if not computable:
        raise ModelError(f"link '{spec.link}'", f"its mass is {body.mass} kg, too small for its first moment")
    return spec


def read_text(path: str | Path) -> str:
    """Return the text of a file, or as much of it as shows that it is too long.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: it is no text.
    """
    with Path(path).open(encoding="utf-8") as file:
        return file.read(MAX_TEXT + 1)


def read_description(path: str | Path) -> str:
    """Return the text of a robot description, see `read_text`.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"file '{path}'", f"cannot be read: {error}") from error
