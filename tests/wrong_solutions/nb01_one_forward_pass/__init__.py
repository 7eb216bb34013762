"""Planted solutions to the exercises of notebook 01."""
