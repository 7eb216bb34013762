"""Planted solutions of notebook 09."""
