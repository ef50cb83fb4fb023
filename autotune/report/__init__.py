"""The report of a campaign: one set of facts, rendered as HTML, Markdown, JSON, CSV, charts and a diff."""
