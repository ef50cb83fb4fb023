"""Plan, run, confirm, restore: the only place that joins the parts."""
