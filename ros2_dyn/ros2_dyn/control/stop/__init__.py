# SPDX-License-Identifier: Apache-2.0
"""The stop: whether the arm rests, what brakes and holds it, and what follows where that fails."""
