"""The demos, one a file, and what they share."""
