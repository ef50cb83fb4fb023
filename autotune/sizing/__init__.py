"""Model shape -> bytes a block -> blocks -> bracket; pure."""
