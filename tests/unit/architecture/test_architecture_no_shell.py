"""No shell is used anywhere, and no text is ever run as code: a look at every syntax tree."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "autotune"
MODULES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN = {
    *("os.system", "os.popen", "os.spawnl", "os.spawnlp", "os.spawnv", "os.spawnvp", "pty.spawn"),
    *("subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell"),
    *("eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "marshal.loads"),
    *("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load"),
}
SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh", "csh", "/bin/sh", "/bin/bash", "/usr/bin/bash"}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def faults_in(tree: ast.AST) -> list[str]:
    """Calls that run a shell or a text; argument lists that begin with a shell and its -c."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            shell = next((word for word in node.keywords if word.arg == "shell"), None)
            if name in FORBIDDEN or (shell is not None and ast.unparse(shell.value) != "False"):
                found.append(f"line {node.lineno}: {name}")
        if isinstance(node, ast.List | ast.Tuple):
            words = [part.value for part in node.elts if isinstance(part, ast.Constant)]
            if len(words) > 1 and words[0] in SHELLS and str(words[1]).startswith("-"):
                found.append(f"line {node.lineno}: {words[:2]}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_runs_neither_a_shell_nor_a_text(path):
    assert faults_in(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.run(words, shell=True)",
        "subprocess.Popen('ls', shell=chosen)",
        "os.system('ls')",
        "asyncio.create_subprocess_shell('ls')",
        "run(['bash', '-c', text])",
        "eval(text)",
        "yaml.load(text)",
    ],
)
def test_the_look_finds_what_it_looks_for(text):
    assert faults_in(ast.parse(text))
