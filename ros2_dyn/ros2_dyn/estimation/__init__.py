"""From measurements to what was not measured."""
