"""Planted solutions of notebook 04."""
