"""Planted solutions of notebook 05."""
