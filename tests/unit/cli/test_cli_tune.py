"""The end of `autotune tune`: what was measured is told, also when its report cannot be written."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from autotune.campaign.choices import Choices
from autotune.cli.tune import _tell
from autotune.errors import Refused
from tests.unit.report import example_campaigns as examples


@pytest.mark.parametrize(("as_json", "first"), [(False, "maxBatchSize"), (True, '"schema_version"')])
def test_an_answer_is_told_before_the_report_that_cannot_be_written(tmp_path, capsys, as_json, first):
    (tmp_path / "file").write_text("in the way")
    campaign = examples.guide()
    session = SimpleNamespace(
        profile=SimpleNamespace(report=SimpleNamespace(language="en", directory=Path("reports"))),
        campaign=campaign,
    )
    ending = SimpleNamespace(campaign=campaign, exit_code=0)
    choices = Choices(output=tmp_path / "file" / "report")
    with pytest.raises(Refused) as refused:
        _tell(session, ending, choices, as_json=as_json)
    assert first in capsys.readouterr().out
    assert f"autotune report {campaign.run} --output DIR" in refused.value.hint
