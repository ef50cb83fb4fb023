"""Messages: the page docs/messages.md, every error text with its next step, from the code itself."""

import ast
from dataclasses import dataclass
from pathlib import Path

from autotune import errors

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "autotune"
HEAD = """\
# Every error text
Made from the code by `make docs`; a test holds it against the code. `{...}` stands for what is filled in:
search for the words around it. What to do first: [troubleshooting.md](troubleshooting.md).
"""
CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.AutotuneError)
}


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Message:
    """One raise."""

    exit_code: int
    name: str
    text: str
    hint: str


def page() -> str:
    """A section a class, in order of the exit codes."""
    found = sorted({message for path in sorted(PACKAGE.rglob("*.py")) for message in messages_in(path)})
    parts = [HEAD]
    for name in dict.fromkeys(message.name for message in found):
        own = [message for message in found if message.name == name]
        documented = (CLASSES[name].__doc__ or "").strip().splitlines()[0]
        parts.append(f"## {name} (exit code {own[0].exit_code})\n{documented}\n")
        parts.append("\n".join(_line(message) for message in own) + "\n")
    return "\n".join(parts)


def messages_in(path: Path) -> list[Message]:
    """The errors that a module makes with a text that stands there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [message for call in calls if (message := _message(call)) is not None]


def _message(call: ast.Call) -> Message | None:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    place = 1 if name == "LaunchFailed" else 0
    if name not in CLASSES or len(call.args) <= place:
        return None
    text = _plain(call.args[place])
    hint = next((_plain(word.value) for word in call.keywords if word.arg == "hint"), "")
    if not text.replace("{...}", "").strip(" :,"):
        return None
    return Message(exit_code=CLASSES[name].exit_code, name=name, text=text, hint=hint)


def _plain(node: ast.expr) -> str:
    """The text with `{...}` for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_plain(value) for value in values)
        case ast.BinOp(left=left, right=right):
            return _plain(left) + _plain(right)
        case ast.IfExp(body=body, orelse=other):
            return f"{_plain(body)} / {_plain(other)}"
        case _:
            return "{...}"


def _line(message: Message) -> str:
    shown = " ".join(message.text.split())
    hint = " ".join(message.hint.split())
    return f"- {shown}" + (f"\n  next: {hint}" if hint.replace("{...}", "").strip() else "")
