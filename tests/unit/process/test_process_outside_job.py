from autotune.process.outside_job import in_service, wrapped


def test_a_systemd_service_is_told_from_a_login_by_its_cgroup(tmp_path):
    def under(text):
        root = tmp_path / str(abs(hash(text)))
        (root / "proc/self").mkdir(parents=True)
        (root / "proc/self/cgroup").write_text(text)
        return in_service(root)

    assert under("0::/system.slice/autotune-nightly-x.service\n")
    assert under("12:pids:/x\n1:name=systemd:/system.slice/cron.service\n")
    assert not under("0::/user.slice/user-0.slice/session-3.scope\n")
    assert not under("0::/\n")
    assert not in_service(tmp_path / "nowhere")


def test_the_command_gets_a_unit_of_its_own_with_variables_by_name_only():
    found = wrapped(
        ("start.sh", "-d"), {"TOKEN": "secret", "PATH": "/bin"}, tool="systemd-run", python="python"
    )
    assert found[-2:] == ("start.sh", "-d")
    assert "--setenv=TOKEN" in found
    assert "--property=RemainAfterExit=yes" in found
    assert not any("secret" in word for word in found)
    assert "--scope" not in found
