"""The demos, one mode a file, and what they share."""
