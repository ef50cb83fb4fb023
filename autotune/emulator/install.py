"""make_install: a MindIE-shaped folder whose bin/mindieservice_daemon is the stand-in."""

import json
import shutil
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import autotune
from autotune.emulator.default_config import ConfigValues, config_text, known_version
from autotune.emulator.marker import STATE_NAME, Emulation, write_marker
from autotune.errors import UsageError
from autotune.mindie_rules.bounds import Version
from autotune.simulator.presets import preset

DAEMON: Final = "mindieservice_daemon"
BENCHMARK: Final = "benchmark"
_CONNECTOR: Final = "mindie_llm_backend_connector"
_CONNECTOR_OF_1: Final = "mindieservice_backend_connector"
_PROGRAM: Final = 0o550
_LONGEST_INTERPRETER: Final = 125
_FOLDER: Final = 0o750
_SHIPPED_PREFILL_BATCH: Final = 50
_CONFIG: Final = 0o640

_SCRIPT: Final = '''{first}
"""{purpose}"""
import sys
from pathlib import Path

try:
    import autotune
except ImportError:
    sys.path.insert(0, {package_parent!r})

from autotune.emulator.{module} import main

sys.exit(main(Path(__file__).resolve().parent.parent, sys.argv[1:]))
'''
_ENVIRONMENT: Final = """# Environment of the emulated MindIE service; to be sourced before a start.
MIES_INSTALL_PATH="{install}"
export MIES_INSTALL_PATH
export MINDIE_LLM_HOME_PATH="$MIES_INSTALL_PATH"
export MINDIE_LOG_LEVEL=ERROR
export MINDIE_LOG_TO_STDOUT=0
export MINDIE_LOG_TO_FILE=1
export MIES_SERVICE_MONITOR_MODE="${{MIES_SERVICE_MONITOR_MODE:-0}}"
export PATH="$MIES_INSTALL_PATH/bin:$PATH"
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstallOptions(Emulation):
    """How the emulated service behaves, and what its config.json says."""

    port: int = 1025
    management_port: int = 1026
    metrics_port: int = 1027
    max_link_num: int = 1000
    max_batch_size: int = 200
    max_prefill_batch_size: int | None = None
    """None takes the shipped 50, or max_batch_size where that is less."""
    max_prefill_tokens: int = 8192
    max_iter_times: int = 512
    support_select_batch: bool = False
    world_size: int = 2
    https: bool = False

    def emulation(self) -> Emulation:
        """The part that the marker keeps."""
        return Emulation(**{each.name: getattr(self, each.name) for each in fields(Emulation)})


def make_install(directory: Path, options: InstallOptions | None = None) -> Path:
    """Make the install and return its folder, absolute.

    An install that is there is made anew. Raises UsageError for a folder that is none, which is left alone,
    and for a model without a preset.
    """
    options = options or InstallOptions()
    preset(options.model)
    install = directory.absolute()
    _check_place(install)
    version = known_version(options.version)
    for name in ("bin", "conf", "model", "logs"):
        (install / name).mkdir(parents=True, exist_ok=True, mode=_FOLDER)
    (install / "model").chmod(_FOLDER)
    _write(install / "model" / "config.json", json.dumps(_LLAMA3_8B, indent=2) + "\n", _CONFIG)
    _write(install / "conf" / "config.json", config_text(version, _values(install, options)), _CONFIG)
    _write(install / "set_env.sh", _ENVIRONMENT.format(install=install), _PROGRAM)
    _write(install / "version.info", f"Ascend-mindie-service : {options.version}\n", _CONFIG)
    _scripts(install, version)
    (install / STATE_NAME).unlink(missing_ok=True)
    write_marker(install, options.emulation())
    return install


def _check_place(install: Path) -> None:
    if not install.exists():
        return
    if not install.is_dir() or (any(install.iterdir()) and not (install / "EMULATED").is_file()):
        raise UsageError(
            f"{install} exists and is no emulated install",
            hint="give a folder that is empty or does not exist",
        )


def _values(install: Path, options: InstallOptions) -> ConfigValues:
    prefill = options.max_prefill_batch_size
    if prefill is None:
        prefill = min(_SHIPPED_PREFILL_BATCH, options.max_batch_size)
    return ConfigValues(
        model_name=options.model,
        model_path=str(install / "model"),
        port=options.port,
        management_port=options.management_port,
        metrics_port=options.metrics_port,
        max_link_num=options.max_link_num,
        https=options.https,
        world_size=options.world_size,
        max_batch_size=options.max_batch_size,
        max_prefill_batch_size=prefill,
        max_prefill_tokens=options.max_prefill_tokens,
        max_iter_times=options.max_iter_times,
        support_select_batch=options.support_select_batch,
    )


def _scripts(install: Path, version: Version) -> None:
    """The programs, with this interpreter in their first line."""
    parent = str(Path(autotune.__file__).resolve().parent.parent)
    programs = (
        (DAEMON, "daemon", "The emulated MindIE service."),
        (BENCHMARK, "benchmark_command", "The emulated MindIE benchmark."),
    )
    for name, module, purpose in programs:
        text = _SCRIPT.format(
            first=_first_lines(sys.executable), module=module, purpose=purpose, package_parent=parent
        )
        _write(install / "bin" / name, text, _PROGRAM)
    connector = connector_of(install, version)
    connector.unlink(missing_ok=True)
    connector.symlink_to(shutil.which("sleep") or "/bin/sleep")


def _first_lines(interpreter: str) -> str:
    """What starts the interpreter: the kernel takes no blank in its path and cuts a long one.

    /bin/sh then starts it, by lines that are a string to Python; the process stays the same.
    """
    if len(interpreter.encode()) <= _LONGEST_INTERPRETER and not any(
        letter.isspace() for letter in interpreter
    ):
        return f"#!{interpreter}"
    return f"""#!/bin/sh
'''exec' "{interpreter}" "$0" "$@"
' '''"""


def connector_of(install: Path, version: Version) -> Path:
    """The program that each rank runs; 1.x called it otherwise."""
    return install / "bin" / (_CONNECTOR_OF_1 if version.major == 1 else _CONNECTOR)


def _write(path: Path, text: str, mode: int) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


_LLAMA3_8B: Final = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
