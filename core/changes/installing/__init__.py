"""Install skills that others publish, upgrade and remove them, through the gate."""
