"""A terminal in memory: what a person sees after the control sequences that were written to it."""

import re
import unicodedata

SEQUENCE = re.compile(r"\x1b\[(\?)?(\d*(?:;\d+)*)([A-Za-z])")
COLOUR = "m"


class Screen:
    """Cells in rows; grows downwards, so that nothing scrolls away."""

    def __init__(self, width):
        self.width = width
        self.rows = [[]]
        self.at = (0, 0)
        self.style = ""
        """Colour sequences that hold for what is written next."""

    def write(self, text):
        """What rich's console writes to."""
        place = 0
        while place < len(text):
            found = SEQUENCE.match(text, place)
            if found:
                self._obey(*found.groups())
                place = found.end()
            else:
                self._put(text[place])
                place += 1

    def flush(self):
        """Nothing is held back."""

    def text(self):
        """Every line without the blanks at its end."""
        lines = ["".join(sign for sign, _ in row).rstrip() for row in self.rows]
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines) + "\n"

    def ansi(self):
        """The same lines with their colours."""
        count = self.text().count("\n")
        return ["".join(f"{style}{sign}\x1b[0m" for sign, style in row) for row in self.rows[:count]]

    def widest(self):
        """Cells of the longest line."""
        return max(sum(wide(sign) for sign in line) for line in self.text().splitlines())

    def _obey(self, private, numbers, letter):
        row, column = self.at
        count = int(numbers) if numbers.isdigit() else 1
        if letter == COLOUR:
            self.style = "" if numbers in {"", "0"} else f"{self.style}\x1b[{numbers}m"
        elif private or letter in "hl":
            assert letter in "hl", "only the cursor is hidden and shown"
        elif letter == "A":
            self.at = (max(0, row - count), column)
        elif letter == "K":
            self.rows[row] = []
        else:
            raise AssertionError(f"an unknown sequence: {letter}")

    def _put(self, sign):
        row, column = self.at
        if sign == "\n":
            self.at = (row + 1, 0)
            if row + 1 == len(self.rows):
                self.rows.append([])
        elif sign == "\r":
            self.at = (row, 0)
        else:
            assert sign.isprintable(), f"a control character reached the terminal: {sign!r}"
            cells = self.rows[row]
            cells += [(" ", "")] * (column - len(cells))
            cells[column : column + 1] = [(sign, self.style)]
            self.at = (row, column + 1)


def wide(sign):
    """Cells of one sign."""
    return 2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1
