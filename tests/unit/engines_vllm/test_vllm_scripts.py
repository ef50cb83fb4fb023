"""Scripts as people write them: read as bash reads them and edited right, or refused with line and mend."""

import os
import subprocess
from pathlib import Path

import pytest

from autotune.engines.vllm.facts import facts_of
from autotune.engines.vllm.flags import Flag, number_of
from autotune.engines.vllm.script import read_script
from autotune.errors import Refused

SEQS = Flag.MAX_NUM_SEQS
MODULE = "python3 -m vllm.entrypoints.openai.api_server --model m"

EDITED = {
    "nohup": (f"nohup {MODULE} --max-num-seqs 256 > $LOG 2>&1 &\nwait\n", 256),
    "exec": ("exec vllm serve m --max-num-seqs=256\n", 256),
    "the last one counts": ("vllm serve m --max-num-seqs 16 --max_num_seqs 256\n", 256),
    "quoted as a whole": ('vllm serve m "--max-num-seqs=256" --port 8080\n', 256),
    "quoted in two": ("vllm serve m '--max-num-seqs' '256'\n", 256),
    "quoted in part": ('vllm serve m --max-num-seqs="25"6\n', 256),
    "broken within the word": ("vllm serve m --max-num-se\\\nqs 256\n", 256),
    "a variable": ("N=256\nexport PORT=8080\nvllm serve m --max-num-seqs=$N --port $PORT\n", 256),
    "the script's value outranks the environment's": ("FROM=32\nvllm serve m --max-num-seqs $FROM\n", 32),
    "the environment's": ("vllm serve m --max-num-seqs ${FROM:-256}\n", 64),
    "a default in a default": ("vllm serve m --max-num-seqs ${N:-${M:-256}}\n", 256),
    "an argument of the script": ("vllm serve m --max-num-seqs ${1:-256}\n", 256),
    "arguments in a string": ('ARGS="--max-num-seqs 256 --port 8080"\nvllm serve m $ARGS\n', 256),
    "a string that grows": (
        'ARGS="--port 8080"\nARGS="$ARGS --max-num-seqs 256"\nARGS+=" --seed 1"\nvllm serve m $ARGS\n',
        256,
    ),
    "a list that outranks the flag": ('A=(--max-num-seqs 64)\nvllm serve m --max-num-seqs 8 "${A[@]}"\n', 64),
    "a list that grows": (
        'A=(--port 80  # the port\n  --enforce-eager)\nA+=(--max-num-seqs 256)\nvllm serve m "${A[@]}"\n',
        256,
    ),
    "the whole command in a variable": ('CMD="vllm serve m --max-num-seqs 256"\n$CMD\n', 256),
    "the whole command in a list": (
        'CMD=(vllm serve m --max-num-seqs 256)\nexec "${CMD[@]}" --port 8080\n',
        256,
    ),
    "a function called later": (
        'start() {\n  vllm serve "$MODEL" --max-num-seqs $N\n}\nMODEL=/w\nN=256\nstart\n',
        256,
    ),
    "a here-document beside it": (
        "cat > $LOG <<'EOF'\nvllm serve a --max-num-seqs 3\nEOF\nvllm serve m --max-num-seqs 256\n",
        256,
    ),
    "an indented here-document": (
        "cat <<-EOF >$LOG\n\tvllm serve a\n\tEOF\nvllm serve m --max-num-seqs=256\n",
        256,
    ),
    "named by echo": ("echo vllm serve m --max-num-seqs 1\nvllm serve m --max-num-seqs 256\n", 256),
    "named by a string": ("pgrep -f 'vllm serve' || true\nvllm serve m --max-num-seqs 256\n", 256),
    "JSON in single quotes": (
        "vllm serve m --compilation-config '{\"cudagraph_capture_sizes\": [1, 8]}' --max-num-seqs 256\n",
        256,
    ),
    "JSON in double quotes": (
        'vllm serve m -O "{\\"cudagraph_capture_sizes\\": [1, 8]}" --max-num-seqs 256\n',
        256,
    ),
    "tee": ("vllm serve m --max-num-seqs 256 2>&1 | tee -a $LOG\n", 256),
    "a process that reads along": ("vllm serve m --max-num-seqs 256 > >(cat)\n", 256),
    "both streams": ("vllm serve m --max-num-seqs 256 &> $LOG\n", 256),
    "beside a check": ('cd "$(dirname "$LOG")" && vllm serve m --max-num-seqs 256 || exit 1\n', 256),
    "a subshell": ("(cd /; vllm serve m --max-num-seqs 256)\n", 256),
    "environment before it": ("A=1 B='x y' vllm serve m --max-num-seqs 256\n", 256),
    "env": ("env A=1 vllm serve m --max-num-seqs 256\n", 256),
    "a branch": ('if [ -n "$LOG" ]; then\n  vllm serve m --max-num-seqs 256\nfi\n', 256),
    "comments around": ("# --max-num-seqs 1\nvllm serve m --max-num-seqs 256 # --max-num-seqs 2\n", 256),
}

REFUSED = {
    "a value that is computed": (
        "vllm serve m \\\n  --max-num-seqs $((8*2))\n",
        "line 2: --max-num-seqs $((8*2)) is not",
        "the number itself",
    ),
    "a value that another program says": (
        "vllm serve m --max-num-seqs `nproc`\n",
        "line 1: ",
        "the number itself",
    ),
    "an argument of a function": (
        "s() {\n vllm serve m --max-num-seqs $1\n}\ns 8\n",
        "line 2: --max-num-seqs $1 is not",
        "the number itself",
    ),
    "a value under a condition": (
        "N=8\nif [ -d /x ]; then N=16; fi\nvllm serve m --max-num-seqs $N\n",
        "line 3: --max-num-seqs $N is not",
        "the number itself",
    ),
    "arguments of another file": (
        "source ./env.sh\n\nvllm serve m $EXTRA_ARGS\n",
        "line 3: $EXTRA_ARGS may hold --max-num-seqs",
        "behind it",
    ),
    "two branches": (
        "if [ a ]; then\n vllm serve m\nelse\n vllm serve n\nfi\n",
        "in lines 2 and 4; it must be one",
        "one of them",
    ),
    "a string for another shell": (
        "\nbash -c 'vllm serve m'\n",
        "line 2: a vLLM server is named",
        "engine.command",
    ),
    "eval": (
        'eval "vllm serve m --max-num-seqs 8"\n',
        "line 1: a vLLM server is named",
        "write the command out",
    ),
    "a here-document": (
        "cat >x <<EOF\nvllm serve m\nEOF\nbash x\n",
        "line 2: a vLLM server is named",
        "write",
    ),
    "another file": ("export A=1\n. ./serve.sh\n", "no command of the script", "line 2 (. ./serve.sh)"),
    "a comment in the middle": (
        "vllm serve m \\\n  --max-num-seqs 8 \\\n  # --port 1 \\\n  --port 8080\n",
        "line 4: --port is no part",
        "the comment",
    ),
    "a blank behind the backslash": ("vllm serve m \\ \n --max-num-seqs 8\n", "line 1: a blank", "remove"),
    "a loop": (
        "while true; do\n  vllm serve m; sleep 1\ndone\n",
        "line 2: the server is started in a loop",
        "once",
    ),
    "a container": (
        "docker run -d image vllm serve m\n",
        "line 1: docker starts the server in a container",
        "there",
    ),
    "no value": (
        "vllm serve m \\\n --max-num-seqs\n",
        "line 2: --max-num-seqs without a value",
        "the number itself",
    ),
    "an abbreviation": (
        "vllm serve m --max-num-s 8\n",
        "line 1: --max-num-s is an abbreviation",
        "--max-num-seqs",
    ),
    "a file of flags": ("vllm serve m --config c.yaml\n", "line 1: --config names a file", "outranks"),
    "no model": ("\nvllm serve --port 8\n", "line 2: the command names no model", "--model"),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> dict[str, str]:
    """A `vllm` and a `python3` that only write down what they were given."""
    root = tmp_path_factory.mktemp("scripts")
    for name in ("vllm", "python3"):
        program = root / name
        program.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done >"$TOLD"\n')
        program.chmod(0o755)
    return {
        "PATH": f"{root}:{os.environ['PATH']}",
        "TOLD": str(root / "told"),
        "LOG": str(root / "log"),
        "FROM": "64",
    }


def words_of_bash(text: str, environment: dict[str, str]) -> list[str]:
    """The words that the server gets when bash runs the script."""
    told = Path(environment["TOLD"])
    told.unlink(missing_ok=True)
    subprocess.run(["bash", "-c", text], env=environment, check=True, capture_output=True, timeout=20)
    return told.read_text().split("\0")[:-1]


@pytest.mark.parametrize(("text", "found"), EDITED.values(), ids=EDITED)
def test_a_script_is_read_and_edited_as_bash_runs_it(text, found, environment):
    script = read_script(text, environment)
    assert facts_of(script, environment).max_num_seqs == found
    given = words_of_bash(text, environment)
    assert list(script.arguments) == given[-len(script.arguments) :]
    changed = script.with_flags({SEQS: "48"})
    assert number_of(words_of_bash(changed.text, environment), SEQS) == 48
    assert number_of(changed.arguments, SEQS) == 48
    assert changed.with_flags({SEQS: "48"}).text == changed.text


@pytest.mark.parametrize(("text", "message", "hint"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_edited_is_refused_with_its_line_and_what_mends_it(text, message, hint):
    with pytest.raises(Refused) as refused:
        facts_of(read_script(text, {}), {})
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_value_differs_whatever_the_line_ends(end):
    lines = ("#!/bin/bash", "export A=1", "vllm serve m \\", "  --max-num-seqs 256 \\", "  --port 8080", "")
    text = end.join(lines)
    script = read_script(text, {})
    assert (facts_of(script, {}).max_num_seqs, facts_of(script, {}).port) == (256, 8080)
    assert script.with_flags({SEQS: "48"}).text == text.replace("256", "48")


def test_bytes_that_are_no_text_and_a_mark_at_the_beginning_stay():
    text = b"\xef\xbb\xbf#!/bin/bash\n# \xb0\xa1\nvllm serve m --max-num-seqs 256\n"
    script = read_script(text.decode("utf-8", "surrogateescape"), {})
    changed = script.with_flags({SEQS: "48"}).text
    assert changed.encode("utf-8", "surrogateescape") == text.replace(b"256", b"48")


def test_a_bit_shift_is_no_here_document():
    script = read_script("N=$((1 << 3))\n(( N = 1 << 2 ))\nvllm serve m --max-num-seqs 8\n", {})
    assert script.with_flags({SEQS: "9"}).text.endswith("--max-num-seqs 9\n")


def test_a_value_that_doubles_at_every_line_is_not_followed_for_ever():
    doubling = "".join(f"A{n + 1}=$A{n}$A{n}\n" for n in range(60))
    script = read_script(f"A0=xxxxxxxx\n{doubling}vllm serve m --max-num-seqs 8 --chat-template $A60\n", {})
    assert facts_of(script, {}).max_num_seqs == 8
