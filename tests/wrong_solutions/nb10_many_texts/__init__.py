"""Planted solutions to the exercises of notebook 10."""
