"""Planted solutions of notebook 06."""
