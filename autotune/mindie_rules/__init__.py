"""MindIE's config fields, bounds, messages and formats in one place; pure."""
