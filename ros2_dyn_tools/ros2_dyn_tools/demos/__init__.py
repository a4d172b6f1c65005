# SPDX-License-Identifier: Apache-2.0
"""The demos, one mode a file, and what they share."""
