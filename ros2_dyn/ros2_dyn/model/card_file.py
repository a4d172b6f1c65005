# SPDX-License-Identifier: Apache-2.0
"""Robot cards as files, the descriptions that they name, and the recordings that they are from."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model.card import RobotCard
from ros2_dyn.model.card_parser import MAX_TEXT, parse_card
from ros2_dyn.model.card_text import card_text

SUFFIXES = (".yaml", ".yml")
"""Ends of the names of cards."""
PACKAGE = "package://"


def is_card(path: str | Path) -> bool:
    """Return whether a file is a robot card by its name."""
    return Path(path).suffix.lower() in SUFFIXES


def write_card(card: RobotCard, path: str | Path) -> None:
    """Write a card as YAML; its numbers have six digits.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        Path(path).write_text(card_text(card), encoding="utf-8")
    except OSError as error:
        raise InputError(f"card '{path}'", f"cannot be written: {error}") from error


def read_card(path: str | Path) -> RobotCard:
    """Read a card.

    Raises:
        InputError: it cannot be read, or something in it is unknown, missing, not finite or too large.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            return parse_card(file.read(MAX_TEXT + 1))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"card '{path}'", f"cannot be read: {error}") from error
    except InputError as error:
        raise InputError(f"card '{path}'", f"{error.argument}: {error.problem}") from error


def described_by(card: RobotCard, path: str | Path) -> Path:
    """Return the path of the URDF that a card names.

    Args:
        card: the card.
        path: the card's own.

    Raises:
        ModelError: it names none, or a package that is in no prefix of AMENT_PREFIX_PATH.
    """
    if not card.urdf:
        raise ModelError(f"card '{path}'", "it names no `urdf`: add one, or give the URDF and the card")
    if not card.urdf.startswith(PACKAGE):
        return Path(path).parent / card.urdf
    package, _, rest = card.urdf.removeprefix(PACKAGE).partition("/")
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        share = Path(prefix, "share", package)
        if share.is_dir():
            return share / rest
    raise ModelError(f"card '{path}'", f"its `urdf` is in the package '{package}', which is not installed here")


def hash_recording(path: str | Path) -> str:
    """Return the SHA-256 of a recording: of the file, or of the names and contents of the files of a folder.

    Raises:
        InputError: there is none, or it cannot be read.
    """
    path, digest = Path(path), sha256()
    try:
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for each in files:
            if each != path:
                digest.update(f"{each.relative_to(path).as_posix()}\0".encode())
            with each.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    except OSError as error:
        raise InputError(f"recording '{path}'", f"cannot be read: {error}") from error
    return digest.hexdigest()
