"""Data sets as they go round: packed, with marks and line ends of other systems, headers twice or missing."""

import gzip
import json

import pytest

from autotune.load.workload.dataset import DatasetRequest, read_dataset

QUESTION = json.dumps({"question": "Why?", "answer": "#### 4"})
GSM8K = f"{QUESTION}\n{QUESTION.replace('Why', 'How')}\n"
CEVAL = "id,question,A,B,C,D,answer\n0,在_____中,甲,乙,丙,丁,B\n"
MMLU = "Pick one,1,2,3,4,B\n"
TRUTHFUL = 'Type,Question,Best Answer\nAdversarial,"What, then?",Nothing\n'


def texts(path, kind):
    return [prompt.text for prompt in read_dataset(DatasetRequest(type=kind, path=path)).prompts]


@pytest.mark.parametrize(
    "written",
    [
        GSM8K.encode(),
        GSM8K.encode("utf-8-sig"),
        GSM8K.replace("\n", "\r\n").encode(),
        GSM8K.replace("\n", "\n\n  \n").encode() + b"\n\n",
        GSM8K.rstrip("\n").encode(),
        f"[{', '.join(GSM8K.splitlines())}]".encode(),
        b'{"answer": "#### 4", "id": 7, "question": "Why?"}\n{"question": "How?"}',
    ],
    ids=["plain", "BOM", "CRLF", "blank lines", "no last line end", "one list", "other order, no answer"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_question_set_reads_the_same_however_it_was_written(tmp_path, written, packed):
    file = tmp_path / ("test.jsonl.gz" if packed else "test.jsonl")
    file.write_bytes(gzip.compress(written) if packed else written)
    assert texts(file, "gsm8k") == ["Why?", "How?"]
    assert texts(tmp_path, "gsm8k") == ["Why?", "How?"]


def test_line_separators_inside_a_text_do_not_end_its_row(tmp_path):
    text = "one\u2028two\u0085three\x0cfour"
    (tmp_path / "a.jsonl").write_text(json.dumps({"question": text}, ensure_ascii=False), encoding="utf-8")
    assert texts(tmp_path / "a.jsonl", "gsm8k") == [text]
    (tmp_path / "t.csv").write_text(f"Question,Best Answer\n{text},x\n", encoding="utf-8")
    assert texts(tmp_path / "t.csv", "truthfulqa") == [text]


@pytest.mark.parametrize(
    "written",
    [
        TRUTHFUL,
        TRUTHFUL.replace("\n", "\r\n"),
        TRUTHFUL + TRUTHFUL.splitlines()[0] + "\n",
        TRUTHFUL.replace("Question", " question "),
        'Question,Source\n\n"What, then?",\n\n',
    ],
    ids=["plain", "CRLF", "header twice", "small letters", "other columns"],
)
def test_truthfulqa_is_read_by_its_column(tmp_path, written):
    (tmp_path / "TruthfulQA.csv").write_text(written, encoding="utf-8", newline="")
    assert texts(tmp_path, "truthfulqa") == ["What, then?"]


@pytest.mark.parametrize("place", ["val", "ceval/formal_ceval/val"])
def test_ceval_is_found_below_and_packed(tmp_path, place):
    folder = tmp_path / place
    folder.mkdir(parents=True)
    (folder / "law_val.csv.gz").write_bytes(gzip.compress(CEVAL.encode("utf-8-sig")))
    (folder.parent / "dev").mkdir()
    (folder.parent / "dev" / "law_dev.csv").write_text(CEVAL.replace("甲", "例"), encoding="utf-8")
    (only,) = texts(tmp_path, "ceval")
    assert "关于law考试" in only
    assert "A. 例" in only
    assert only.endswith("A. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：")


def test_ceval_without_numbers_and_in_another_order(tmp_path):
    (tmp_path / "law_val.csv").write_text("A,B,C,D,question\n甲,乙,丙,丁,问\n", encoding="utf-8")
    assert texts(tmp_path / "law_val.csv", "ceval")[0].endswith("问\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：")


def test_a_header_of_mmlu_is_no_question(tmp_path):
    (tmp_path / "law_test.csv").write_text(f"question,A,B,C,D,answer\n{MMLU}", encoding="utf-8")
    (only,) = texts(tmp_path, "mmlu")
    head = "The following are multiple choice questions (with answers) about law.\n\n"
    assert only == f"{head}Pick one\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:"


def test_sharegpt_is_found_as_lines_and_packed(tmp_path):
    row = {"id": "a", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}
    (tmp_path / "one.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    assert texts(tmp_path, "sharegpt") == ["Hi"]
    (tmp_path / "one.json.gz").write_bytes(gzip.compress(json.dumps([row, row]).encode()))
    assert texts(tmp_path, "sharegpt") == ["Hi", "Hi"]


@pytest.mark.parametrize("text", ["Input Tokens,Output Tokens\r\n7,3\r\n", "\ufeffin,out\n\n7, 3\nin,out\n"])
def test_lengths_in_csv_have_a_header_once_or_more(tmp_path, text):
    (tmp_path / "lengths.csv").write_bytes(text.encode())
    (only,) = read_dataset(DatasetRequest(type="synthetic", path=tmp_path / "lengths.csv")).prompts
    assert only.output_tokens == 3


def test_token_ids_may_have_spaces_and_empty_cells(tmp_path):
    (tmp_path / "ids.csv").write_bytes("\ufeff1, 2,3,,\r\n\r\n4\r\n".encode())
    found = read_dataset(DatasetRequest(type="token_ids", path=tmp_path / "ids.csv")).prompts
    assert [prompt.token_ids for prompt in found] == [(1, 2, 3), (4,)]
