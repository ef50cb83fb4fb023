"""Every data set of the vendor's benchmark and its peers, from files with the fields of the real ones."""

import json
from pathlib import Path

import pytest

from autotune.errors import UsageError
from autotune.load.workload.dataset import DatasetRequest, read_dataset
from autotune.load.workload.datasets.synthetic_config import read_synthetic_config
from autotune.load.workload.lengths import Fixed, Gaussian, Uniform

GOLDEN = Path(__file__).parents[2] / "golden" / "datasets"


def texts(kind: str, path: Path) -> list[str]:
    return [prompt.text for prompt in read_dataset(DatasetRequest(type=kind, path=path)).prompts]


@pytest.mark.parametrize(
    ("kind", "file", "expected"),
    [
        (
            "gsm8k",
            "d01_gsm8k.jsonl",
            (
                "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips "
                "in May. How many clips did Natalia sell altogether in April and May?"
            ),
        ),
        (
            "humaneval",
            "d02_humaneval.jsonl",
            (
                "from typing import List\n\n\ndef f(numbers: List[float], threshold: float) -> bool:\n"
                '    """ example\n    """'
            ),
        ),
        (
            "boolq",
            "d03_boolq_dev.jsonl",
            (
                "Sky -- The sky appears blue on a clear day because of scattering.\n"
                "Question: is the sky blue on a clear day?\nAnswer:"
            ),
        ),
        ("sharegpt", "d06_sharegpt_v3.json", "Summarize the main ideas."),
        ("truthfulqa", "d08_truthfulqa.csv", "example?"),
    ],
)
def test_a_row_becomes_the_prompt_that_the_vendors_tool_sends(kind, file, expected):
    assert texts(kind, GOLDEN / file) == [expected]


def test_the_identity_of_a_humaneval_task_is_kept():
    dataset = read_dataset(DatasetRequest(type="humaneval", path=GOLDEN / "d02_humaneval.jsonl"))
    assert dataset.prompts[0].identity == "HumanEval/0"


def test_each_turn_of_mtbench_is_a_request():
    assert texts("mtbench", GOLDEN / "d07_mtbench_question.jsonl") == ["first turn", "second turn"]


def test_token_ids_come_row_by_row_at_their_own_length():
    request = DatasetRequest(type="token_ids", path=GOLDEN / "d04_tokenid_no_header_ragged.csv")
    prompts = read_dataset(request).prompts
    assert [prompt.token_ids for prompt in prompts] == [
        (25300, 482, 21051, 1059, 6930, 2205),
        (1, 2, 3),
        (4, 5, 6),
    ]


def test_a_ceval_question_ends_where_the_answer_belongs():
    (text,) = texts("ceval", GOLDEN / "d05_ceval_val_subject_val.csv")
    assert text.endswith("example question\nA. a\nB. b\nC. c\nD. d\n答案：")


def test_repeated_prompts_are_noticed():
    dataset = read_dataset(
        DatasetRequest(type="gsm8k", path=GOLDEN / "d11_motor_mock_gsm8k_with_blank_tail.jsonl")
    )
    assert len(dataset.prompts) == 5
    assert "prefix cache" in dataset.notices[0]


def test_a_directory_with_train_and_test_is_noticed(tmp_path):
    for name, count in (("train.jsonl", 3), ("test.jsonl", 2)):
        lines = [json.dumps({"question": f"{name} {i}", "answer": "1"}) for i in range(count)]
        (tmp_path / name).write_text("\n".join(lines) + "\n\n")
    dataset = read_dataset(DatasetRequest(type="gsm8k", path=tmp_path))
    assert len(dataset.prompts) == 5
    assert "train and test" in dataset.notices[0]


def test_a_directory_whose_name_looks_like_a_file_is_still_a_directory(tmp_path):
    odd = tmp_path / "gsm8k.jsonl"
    odd.mkdir()
    (odd / "test.jsonl").write_text('{"question": "one?", "answer": "1"}\n')
    assert texts("gsm8k", odd) == ["one?"]


def test_exams_take_five_examples_of_the_same_subject(tmp_path):
    (tmp_path / "val").mkdir()
    (tmp_path / "dev").mkdir()
    head = "id,question,A,B,C,D,answer\n"
    (tmp_path / "val" / "law_val.csv").write_text(head + '0,"q, one",a,b,c,d,A\n')
    rows = "".join(f"{i},example {i},a,b,c,d,B\n" for i in range(7))
    (tmp_path / "dev" / "law_dev.csv").write_text(head + rows)
    (text,) = texts("ceval", tmp_path)
    assert text.count("答案：B") == 5
    assert "q, one" in text


def test_mmlu_has_no_header(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "dev").mkdir()
    (tmp_path / "test" / "abstract_algebra_test.csv").write_text("What?,a,b,c,d,A\n")
    (tmp_path / "dev" / "abstract_algebra_dev.csv").write_text("Which?,a,b,c,d,C\n")
    (text,) = texts("mmlu", tmp_path)
    assert "about abstract algebra" in text
    assert "Which?\nA. a\nB. b\nC. c\nD. d\nAnswer: C\n\nWhat?" in text
    assert text.endswith("Answer:")


def test_oasst1_takes_the_prompts_of_one_language(tmp_path):
    rows = [
        {"message_id": "1", "text": "你好", "role": "prompter", "lang": "zh"},
        {"message_id": "2", "text": "回答", "role": "assistant", "lang": "zh"},
        {"message_id": "3", "text": "hello", "role": "prompter", "lang": "en"},
    ]
    file = tmp_path / "oasst1.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    assert texts("oasst1", file) == ["你好"]


def test_plain_lines_may_name_the_prompt_in_the_usual_ways(tmp_path):
    rows = [
        {"prompt": "one", "max_tokens": 7},
        {"messages": [{"role": "user", "content": "two"}]},
        {"inputs": "three"},
    ]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    prompts = read_dataset(DatasetRequest(type="jsonl", path=file)).prompts
    assert [(prompt.text, prompt.output_tokens) for prompt in prompts] == [
        ("one", 7),
        ("two", None),
        ("three", None),
    ]


def test_the_vendors_synthetic_configuration_gives_distributions_and_a_count():
    config = read_synthetic_config(GOLDEN / "d09_synthetic_config.json")
    assert config.input_tokens == Uniform(low=1, high=200)
    assert config.output_tokens == Gaussian(mean=100, variance=200, low=1, high=100)
    prompts = read_dataset(
        DatasetRequest(type="synthetic", path=GOLDEN / "d09_synthetic_config.json")
    ).prompts
    assert len(prompts) == config.count == 100
    assert all(1 <= (prompt.output_tokens or 0) <= 100 for prompt in prompts)


def test_the_vendors_csv_of_lengths_is_taken_row_by_row():
    request = DatasetRequest(type="synthetic", path=GOLDEN / "d10_synthetic_tokens.csv", as_token_ids=True)
    prompts = read_dataset(request).prompts
    assert [(len(prompt.token_ids), prompt.output_tokens) for prompt in prompts] == [(128, 256), (512, 64)]


@pytest.mark.parametrize(
    "text",
    [
        '{"Input": {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 2}}, "RequestCount": 1}',
        '{"Input": {}, "Output": {}, "RequestCount": 1}',
        '{"Input": {"Method": "x", "Params": {}}, "Output": {}, "RequestCount": 1}',
        (
            '{"Input": {"Method": "uniform", "Params": {"MinValue": 5, "MaxValue": 2}},'
            ' "Output": {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 2}}, "RequestCount": 1}'
        ),
        (
            '{"Input": {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 2}},'
            ' "Output": {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 2}}, "RequestCount": 0}'
        ),
        "not json",
    ],
)
def test_a_synthetic_configuration_with_a_fault_is_refused(text, tmp_path):
    file = tmp_path / "synthetic.json"
    file.write_text(text)
    with pytest.raises(UsageError):
        read_synthetic_config(file)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("gsm8k", '{"question": "a"}\n{"answer": "b"}', "no text 'question', only answer"),
        ("gsm8k", '{"question": "a"}\n{broken', "line 2"),
        ("gsm8k", "\n\n", "no prompt that fits"),
        ("token_ids", "1,2\n3,x\n", "line 2: 'x' is no token id"),
        ("sharegpt", "{}", "no conversations"),
        ("mmlu", "a,b\n", "2 columns"),
    ],
)
def test_a_file_of_another_kind_is_told_with_its_place(kind, text, words, tmp_path):
    file = tmp_path / "data.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError) as told:
        texts(kind, file)
    assert words in told.value.message


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match="not there"):
        texts("gsm8k", tmp_path / "nothing")


def test_prompts_outside_the_wanted_lengths_are_left_out(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps({"prompt": "x" * size}) for size in (4, 40, 400)))
    request = DatasetRequest(type="jsonl", path=file, shortest_input=5, longest_input=50)
    assert [len(prompt.text) for prompt in read_dataset(request).prompts] == [40]


def test_output_lengths_can_be_drawn_for_any_data_set(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text('{"prompt": "a"}\n{"prompt": "b"}')
    request = DatasetRequest(type="jsonl", path=file, output_tokens=Fixed(tokens=9))
    assert [prompt.output_tokens for prompt in read_dataset(request).prompts] == [9, 9]


def test_an_order_by_seed_is_the_same_each_time(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(json.dumps({"prompt": str(number)}) for number in range(50)))
    request = DatasetRequest(type="jsonl", path=file, shuffle=True, seed=3)
    first, second = read_dataset(request).prompts, read_dataset(request).prompts
    assert first == second
    assert [prompt.text for prompt in first] != [str(number) for number in range(50)]


@pytest.mark.parametrize(
    ("kind", "name", "text", "prompts"),
    [
        ("gsm8k", "test.json", '[{"question": "a"}, {"question": "b"}]', ["a", "b"]),
        ("jsonl", "x.jsonl", ' \n[{"prompt": "a"}]', ["a"]),
        ("sharegpt", "x.jsonl", '{"conversation": [{"role": "user", "content": "hi"}]}\n', ["hi"]),
        (
            "sharegpt",
            "x.json",
            '[{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}]',
            ["u"],
        ),
        ("mtbench", "x.jsonl", '{"prompt": ["one", "two"]}\n', ["one", "two"]),
        (
            "boolq",
            "x.jsonl",
            '{"question": "is it", "passage": "It is."}\n',
            ["It is.\nQuestion: is it?\nAnswer:"],
        ),
    ],
)
def test_other_forms_of_the_same_sets_are_read(kind, name, text, prompts, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    read = read_dataset(DatasetRequest(type=kind, path=file)).prompts
    assert [prompt.text for prompt in read] == prompts


def test_a_list_with_something_else_in_it_is_told_with_its_place(tmp_path):
    file = tmp_path / "x.json"
    file.write_text('[{"question": "a"}, 7]')
    with pytest.raises(UsageError, match="item 2: not a JSON object"):
        read_dataset(DatasetRequest(type="gsm8k", path=file))
