"""Secrets are read when needed from where the profile says, and recognised where they must not be."""

import pytest

from autotune.errors import UsageError
from autotune.profile.secret import SecretReference, looks_secret, url_holds_secret


def test_a_secret_comes_from_the_environment():
    assert SecretReference(env="TOKEN").read({"TOKEN": "abc"}) == "abc"
    with pytest.raises(UsageError, match="TOKEN is not set") as caught:
        SecretReference(env="TOKEN").read({})
    assert caught.value.hint == "export TOKEN=..."


def test_a_secret_comes_from_a_file_without_its_last_newline(tmp_path):
    (tmp_path / "token").write_text("abc\n")
    assert SecretReference(file=tmp_path / "token").read({}) == "abc"
    with pytest.raises(UsageError, match="can't be read"):
        SecretReference(file=tmp_path / "absent").read({})


@pytest.mark.parametrize(
    "name", ["Authorization", "HF_TOKEN", "X-Api-Key", "Cookie", "db_password", "AWS_SECRET_ACCESS_KEY"]
)
def test_names_of_secrets_are_recognised(name):
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name", ["OMP_NUM_THREADS", "X-Request-Id", "MINDIE_LLM_TOKENIZER", "KEYBOARD", "X-Key"]
)
def test_other_names_are_not(name):
    assert not looks_secret(name)


def test_urls_with_secrets_are_recognised():
    assert url_holds_secret("postgresql://me:word@db/x")
    assert url_holds_secret("https://robot.example/send?access_token=1")
    assert not url_holds_secret("postgresql://me@db/x")
    assert not url_holds_secret("https://hooks.example/x?room=1")
