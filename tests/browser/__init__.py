"""The panels in a real JupyterLab in a real browser."""
