"""Start, watch, identify and end process trees; the only door to psutil."""
