"""The words of the tool as frozen values, and the protocols between its parts."""
