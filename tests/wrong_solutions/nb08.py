"""Planted solutions of notebook 08."""
