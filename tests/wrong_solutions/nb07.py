"""Planted solutions of notebook 07."""
