"""Every target, in the order of the table."""

from tests.fuzz.commands import VLLM_SCRIPTS, VLLM_WORDS
from tests.fuzz.configs import CONFIG_READING, CONFIG_SPLICING, CONFIG_VERDICT, CONFIG_WRITING
from tests.fuzz.datasets import DATASETS
from tests.fuzz.hosts import LSCPU, NPU_SMI
from tests.fuzz.logs import MINDIE_LOGS, VLLM_LOGS
from tests.fuzz.outputs import OUTPUTS
from tests.fuzz.profiles import AMOUNTS, PROFILE
from tests.fuzz.replies import INTERFACES, PROMETHEUS
from tests.fuzz.state import MODELS, STATE
from tests.fuzz.streams import CUTS, FRAMES, STREAMS
from tests.fuzz.target import Target

TARGETS: tuple[Target, ...] = (
    CONFIG_READING,
    CONFIG_SPLICING,
    CONFIG_WRITING,
    CONFIG_VERDICT,
    MINDIE_LOGS,
    VLLM_LOGS,
    OUTPUTS,
    NPU_SMI,
    LSCPU,
    DATASETS,
    PROFILE,
    AMOUNTS,
    INTERFACES,
    PROMETHEUS,
    VLLM_WORDS,
    VLLM_SCRIPTS,
    STREAMS,
    CUTS,
    FRAMES,
    MODELS,
    STATE,
)
