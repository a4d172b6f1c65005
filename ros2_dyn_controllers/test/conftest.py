# SPDX-License-Identifier: Apache-2.0
"""Takes the support modules and the fixtures that the tests of all packages share."""

import sys
from pathlib import Path

# pytest has an option for it, but not yet in Humble.
sys.path.insert(0, str(Path(__file__).parents[2] / "ros2_dyn" / "test" / "support"))
sys.path.insert(0, str(Path(__file__).parent / "support"))

from shared_fixtures import *  # noqa: F403
