# SPDX-License-Identifier: Apache-2.0
"""Each source file names its licence in its first lines."""

from pathlib import Path

from rooms import TOP

FOLDERS = "ros2_dyn", "ros2_dyn_tools", "ros2_dyn_interfaces", "ros2_dyn_controllers", "bench", "scripts", ".ci"
SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp", ".cmake"}
LINE = "SPDX-License-Identifier: Apache-2.0"


def is_source(file: Path) -> bool:
    """Whether a file is written in a programming language, by its name or its first two characters."""
    if file.suffix in SUFFIXES or file.name == "CMakeLists.txt":
        return True
    return not file.suffix and file.read_bytes()[:2] == b"#!"


def sources() -> list[Path]:
    """Source files of the checkout."""
    folders = [TOP / name for name in FOLDERS]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    built = {"build", "install", "__pycache__"}
    return [file for file in files if is_source(file) and not built & set(file.relative_to(TOP).parts)]


def test_every_source_file_names_its_licence_in_its_first_two_lines():
    """The first may tell the system what runs the file."""
    found = sources()
    assert len(found) > 300
    missing = [file for file in found if LINE not in "".join(file.read_text(encoding="utf-8").splitlines()[:2])]
    assert missing == []
