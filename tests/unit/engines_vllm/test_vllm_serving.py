"""Values are spliced into commands and scripts; every other word and byte stays."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.engines.vllm.entry import Interface
from autotune.engines.vllm.flags import Flag
from autotune.engines.vllm.serving import GEAR_LIST, read_command, read_script
from autotune.engines.vllm.shell_words import shell_commands
from autotune.errors import Refused

SCRIPT = """#!/bin/bash
# python -m vllm.entrypoints.openai.api_server --max-num-seqs=1
export ASCEND_RT_VISIBLE_DEVICES=0,1   # two cards
export PTA_TORCHAIR_DECODE_GEAR_LIST=2,4,6,8,16,32
cd "/home/user/a b"\t
python -m vllm.entrypoints.openai.api_server --model='/weights/x y' \\
  --ssl-keyfile "$HOME/k.pem" --ssl-certfile=c.pem \\
    --max-num-seqs=256 \\
\t--max-model-len=4096 --max-num-batched-tokens 4096 --tensor-parallel-size 2 --host 0.0.0.0 --port 8080 \\
  --trust-remote-code >> /var/log/vllm.log 2>&1
"""
SEQS = Flag.MAX_NUM_SEQS


@pytest.mark.parametrize(
    ("words", "interface"),
    [
        ("vllm serve m", Interface.OPENAI),
        ("/opt/venv/bin/vllm serve m", Interface.OPENAI),
        ("numactl -N 1 python3 -u -m vllm.entrypoints.openai.api_server --model m", Interface.OPENAI),
        ("python -m vllm.entrypoints.api_server --model m", Interface.GENERATE),
        ("python /a/vllm/entrypoints/openai/api_server.py --model m", Interface.OPENAI),
        ("python -m vllm.entrypoints.cli.main serve m", Interface.OPENAI),
    ],
)
def test_every_way_to_start_a_server_is_known(words, interface):
    assert read_command(words.split()).entry.interface is interface


@pytest.mark.parametrize("words", [["vllm", "bench", "serve"], ["python", "serve.py"], ["vllm"]])
def test_what_starts_no_server_is_refused(words):
    with pytest.raises(Refused, match="starts no vLLM server"):
        read_command(words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("--max-num-seqs 256 --seed 1", "--max-num-seqs 48 --seed 1"),
        ("--max_num_seqs=256", "--max_num_seqs=48"),
        ("--seed=1", "--seed=1 --max-num-seqs=48"),
        ("--max-num-seqs=1 --max-num-seqs=2", "--max-num-seqs=1 --max-num-seqs=48"),
    ],
)
def test_a_command_keeps_every_other_word(before, after):
    command = read_command(f"vllm serve m {before}".split())
    assert " ".join(command.with_flags({SEQS: "48"}).words) == f"vllm serve m {after}"


def test_a_script_keeps_every_other_byte():
    changed = read_script(SCRIPT, {}).with_flags({SEQS: "48", Flag.PORT: "20001"})
    changed = changed.with_assignment(GEAR_LIST, "2,4,6,8,16,32,48")
    expected = SCRIPT.replace("--max-num-seqs=256", "--max-num-seqs=48").replace("8080", "20001")
    assert changed.text == expected.replace("16,32", "16,32,48")


def test_windows_line_ends_stay():
    text = "#!/bin/bash\r\nvllm serve m \\\r\n --max-num-seqs=8\r\n"
    script = read_script(text, {})
    assert script.words == ("vllm", "serve", "m", "--max-num-seqs=8")
    assert script.with_flags({SEQS: "9"}).text == text.replace("=8", "=9")


def test_an_absent_flag_is_added_before_redirections():
    changed = read_script(SCRIPT, {}).with_flags({Flag.BLOCK_SIZE: "64"})
    assert changed.text == SCRIPT.replace("--trust-remote-code", "--trust-remote-code --block-size=64")


@pytest.mark.parametrize("end", [" &", " | tee log", "; wait", " 2>&1 | tee log", "\n", " > $LOG &", ""])
def test_an_added_flag_belongs_to_the_server(end):
    changed = read_script(f"vllm serve m --seed 1{end}", {}).with_flags({SEQS: "4"})
    assert changed.text == f"vllm serve m --seed 1 --max-num-seqs=4{end}"


@pytest.mark.parametrize(
    ("text", "environment", "value"),
    [
        ("vllm serve m --max-num-seqs=${N:-256}", {}, "256"),
        ("vllm serve m --max-num-seqs=${N:-256}", {"N": "64"}, "64"),
        ("N=32\nvllm serve m --max-num-seqs $N", {}, "32"),
        ('N=${N:-16}\nvllm serve m --max-num-seqs "$N"', {}, "16"),
    ],
)
def test_a_value_from_a_variable_is_read_and_replaced_where_the_flag_stands(text, environment, value):
    script = read_script(text, environment)
    assert script.words[-1].rpartition("=")[2] == value
    changed = script.with_flags({SEQS: "48"})
    assert changed.text == text[: text.index("--max-num-seqs") + 15] + "48"


def test_flags_gathered_in_a_list_are_read_and_outranked():
    text = 'ARGS=(\n  --max-num-seqs 256\n  --port 8080\n)\nvllm serve m "${ARGS[@]}"\n'
    script = read_script(text, {})
    assert "256" in script.arguments
    assert script.with_flags({SEQS: "48"}).text == text.replace('[@]}"', '[@]}" --max-num-seqs=48')


@pytest.mark.parametrize("text", ["", "echo vllm serve", "vllm serve a\nvllm serve b\n"])
def test_a_script_with_no_or_several_servers_is_refused(text):
    if text.startswith("echo"):
        text = "# vllm serve a\n"
    with pytest.raises(Refused, match="must be one"):
        read_script(text, {})


PLAIN = st.text(alphabet="abcXYZ019_./$\"'\\ é#;&|<>(){}\t", min_size=1, max_size=12)


@given(st.lists(PLAIN, min_size=0, max_size=6), st.integers(1, 4096))
def test_whatever_the_words_are_only_the_value_changes(words, value):
    quoted = " ".join(shlex.quote(word) for word in words if "$" not in word)
    text = f"#!/bin/sh\nvllm serve m {quoted} --max-num-seqs=7 # the end\n"
    changed = read_script(text, {}).with_flags({SEQS: str(value)})
    assert changed.text == text.replace("--max-num-seqs=7", f"--max-num-seqs={value}")


@given(st.lists(PLAIN, min_size=1, max_size=6))
def test_words_are_read_as_a_shell_reads_them(words):
    text = " ".join(shlex.quote(word) for word in words)
    (command,) = shell_commands(text)
    assert list(command.texts) == words
    assert [text[word.start : word.end] for word in command.words] == [shlex.quote(word) for word in words]


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader(text):
    for command in shell_commands(text):
        for word in command.words:
            assert 0 <= word.start < word.end <= len(text) + 1
