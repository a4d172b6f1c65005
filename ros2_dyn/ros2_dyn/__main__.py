# SPDX-License-Identifier: Apache-2.0
"""`python -m ros2_dyn`."""

import sys

from ros2_dyn.cli.main import main

sys.exit(main())
