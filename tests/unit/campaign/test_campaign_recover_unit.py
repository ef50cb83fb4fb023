"""The boot-time unit: systemd accepts it, and it is ordered before production."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from autotune.campaign.recover_unit import UNIT_NAME, is_installed, own_command, unit_text
from autotune.errors import UsageError
from autotune.store.state import StateDirectory

TRUE = (shutil.which("true") or "/bin/true",)


def text_for(root: Path, *before: str) -> str:
    return unit_text(StateDirectory(root=root), before=before, argv=TRUE, places=())


def test_production_waits_for_it():
    lines = text_for(Path("/var/lib/ascend-autotune"), "mindie.service").splitlines()
    assert "Before=mindie.service multi-user.target" in lines
    assert "ConditionPathExists=/var/lib/ascend-autotune/journal.json" in lines
    assert f"ExecStart={TRUE[0]} recover --boot --state /var/lib/ascend-autotune" in lines


@pytest.mark.parametrize("root", ["/var/lib/ascend-autotune", "/var/lib/a b/100% $x"])
def test_systemd_verifies_it(tmp_path, root):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        assert not os.environ.get("AUTOTUNE_REQUIRE_SYSTEMD")
        pytest.skip("no systemd-analyze here")
    path = tmp_path / UNIT_NAME
    path.write_text(text_for(Path(root), "mindie.service"))
    done = subprocess.run([verify, "verify", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["mindie", "a b.service", "x.service\nExecStart=/bin/sh"])
def test_what_is_no_unit_is_refused(name):
    with pytest.raises(UsageError):
        text_for(Path("/s"), name)


def test_a_link_to_a_virtual_environment_is_kept(tmp_path):
    link = tmp_path / "python"
    link.symlink_to(TRUE[0])
    assert own_command(str(link)) == (str(link), "-m", "autotune")
    assert not is_installed(tmp_path)
