"""The exercises of the course, one module per notebook."""
