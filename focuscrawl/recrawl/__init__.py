"""Revisiting stored pages."""
