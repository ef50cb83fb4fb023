"""Signs of a failed start: words that only a failure prints, grouped by the class that they tell.

Sources: MindIE's trouble-shooting pages, public logs of 1.0.RC2 to 2.2, the messages of the configuration
checker in MindIE-LLM's public source, the error codes of CANN's runtime.
"""

import re
from dataclasses import dataclass
from typing import Final

from autotune.errors import LaunchCause


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of a failure: a part in small letters, looked for first since that is fast, and the pattern."""

    part: str
    pattern: re.Pattern[str]

    def shows(self, line: str, lowered: str) -> bool:
        """Whether the line, also given in small letters, has the sign."""
        return self.part in lowered and self.pattern.search(line) is not None


def _signs(*parts_and_patterns: tuple[str, str], flags: int = 0) -> tuple[Sign, ...]:
    return tuple(Sign(part, re.compile(pattern, flags)) for part, pattern in parts_and_patterns)


def _parts(*texts: str) -> tuple[Sign, ...]:
    """Signs that are a plain text, in capital or small letters."""
    return tuple(Sign(text.lower(), re.compile(re.escape(text), re.IGNORECASE)) for text in texts)


_VERBS: Final = ("parse", "load", "read", "get")
_CONFIG: Final = (
    *_parts(
        "Json file is invalid",
        "JSON parse error",
        "missing compulsory field",
        "JSON error in ConfigManager",
        "[json.exception.",
        "cannot be set greater than",
        "does not equal to modelInstanceNumber",
        "does not equal to worldSize",
        "(subset) does not equal",
        "does not allow repetitive element",
        "Unrecognized command-line argument",
        "Endpoint port cannot be equal",
        "failed, file is too large",
        "is not a regular file or not exists",
        "Ranktable file is not exist",
        "rank table config error",
        "Set visible device failed",
        "only supports atb",
        "modelWeightPath is no folder",
        "Failed to init tls cfg",
        "nlohmann::detail",
        "certificate verify failed",
        "unable to load private key",
        "Invalid device ID",
    ),
    *_signs(
        ("of param", r"The (?:type|value) of param \w+ (?:should be|for \w+ is invalid)"),
        ("of param", r"The type of param in each \w+"),
        ("param", r"\b[Pp]aram(?:eter)? \w+ is (?:invalid|illegal|out of)"),
        *((verb, rf"(?i:\bfail\w* to {verb} (?:the )?[\w./-]*conf(?:ig)?\b)") for verb in _VERBS),
        *((verb, rf"(?i:\b{verb} [\w./-]*conf(?:ig)?\b.*\bfail)") for verb in _VERBS),
        ("not found", r"(?i:\bconfig(?:\.json| file)\b.* not found)"),
        ("not exist", r"(?i:\bconfig(?:\.json| file)\b.* not exist)"),
        ("config error", r"(?i:\bconfig error\b)"),
        ("configuration error", r"(?i:\bconfiguration error\b)"),
        ("invalid value", r"\b[Ii]nvalid value (?:for|of) \w+"),
        ("is invalid", r"\b(?:max|npu|cpu|prefill|decode|support|model|world|template)[A-Z]\w+ is invalid\b"),
        ("equal", r"\bworldSize\b.*\bnot equal to\b"),
        ("maxseqlen", r"\bmaxSeqLen should be\b"),
        ("certificate", r"(?i:\bfail\w* to (?:load|read|decrypt|verify) .*\bcertificate)"),
        ("private key", r"(?i:\bfail\w* to (?:load|read|decrypt) .*\bprivate key)"),
        ("expired", r"(?i:cert\w*\b.* expired)"),
        ("key password", r"(?i:\bkey password\b.*\b(?:wrong|incorrect|invalid|fail\w*))"),
        ("] is ", r"\b\w+(?:Param|Config)_?[.\w]* \[-?\d+\] is (?:out|less)"),
        ("be 0", r"\bcan ?not be 0\b"),
        ("input ", r"Input \w+ (?:is empty|(?:\[.*\] )?(?:format )?is invalid)"),
        ("out of range", r"(?:Input data size\(\d+\) out of range|^Out of range: Value is too large for)"),
        ("for ", r"\b(?:Negative value is invalid for|Unable to convert to) \w+"),
        ("cannot be", r"\b\w+ cannot be smaller than \d"),
        ("should be", r"\b[Tt]he (?:value of )?[\w.']+ should be (?:one|in|standard|with|set|between)\b"),
        ("should be", r"\bThere should be one modelParam\b"),
        ("should not be", r"\b[Tt]he values? of [\w.']+ should not be (?:less|greater|more)\b"),
        ("must ", r"\b[Tt]he (?:value of )?(?:template\w+|modelName|[\w.]+Param\.\w+) must\b"),
        ("is outside", r"\[-?\d+\] is outside the expected\b"),
        ("within", r"\bshould be within [(\[]"),
        ("the length of", r"\bThe length of [\w ]+ exceeds \d+"),
        ("is invalid", r"\b(?:The pattern of \w+|Model instance type|\w+ size) is invalid\b"),
        ("unknow", r"\bUnknown? kv pool backend\b"),
        ("in json array", r"\b[Ee]lement in json array\b.* (?:does not match|is invalid)"),
        ("init error", r"\b\w+Files? init error\b"),
        ("file not exi", r"\b\w+[Ff]iles? file not exi(?:t|sts?)\b"),
        ("size must", r"\b\w+Files? size must (?:be )?in\b"),
        ("not a dir by", r"\bpath is not a dir by\b"),
        ("path is invalid by", r"\bpath is invalid by\b"),
    ),
)
_PERMISSION: Final = (
    *_parts("owner id diff", "Permission denied", "[Errno 13]", "EACCES", "No space left on device"),
    *_signs(
        ("/dev/", r"/dev/(?:davinci|devmm|hisi)\w*\b.*(?i:not permitted|denied)"),
        ("permission", r"(?i:\b(?:open|access|read|write|drv\w+)\b.*\bfail\w*\b.*\bpermission\b)"),
        ("file permission", r"(?i:\bfile permission of \S+ (?:is not|should|must)\b)"),
        ("check", r"Check[ _]path: .* failed"),
        ("permission failed", r"Check (?:Owner|Other)[\w ]* permission failed"),
        ("is a link", r"\bThe file:? .* is a link\b"),
        (
            "read-only file system",
            r"(?i:(?:error|fail).*Read-only file system|Read-only file system.*(?:error|fail))",
        ),
        ("owned by uid", r"\b[Ss]emaphore\b.* owned by uid\b"),
    ),
)
_PORT: Final = (
    *_parts(
        "Address already in use",
        "Socket bind failed",
        "listen port is occupied",
        "is already occupied",
        "EADDRINUSE",
        "Address in use",
        "failed to listen",
    ),
    *_signs(
        (
            "bind",
            r"\b(?:fail\w* to bind|bind (?:port )?\d+ fail\w*|bind port .*fail\w*|bind fail\w*.*\bport)",
        ),
        *(
            (word, rf"\bport \d+ (?:(?:is|has been|was) )?(?:already )?{word}\b")
            for word in ("occupied", "used", "in use", "taken")
        ),
        flags=re.IGNORECASE,
    ),
    *_signs(("bound", r"\bport \d+ ha(?:s|ve) (?:already )?been bound"), flags=re.IGNORECASE),
)
_MEMORY: Final = (
    *_parts(
        "out of memory",
        "OutOfMemory",
        "Memory_Allocation_Failure",
        "EL0004",
        "num_npu_blocks must be",
        "No available memory for the cache",
        "Cannot allocate memory",
        "Failed to apply for memory",
        "npu memory is not enough",
        "std::bad_alloc",
        "ACL_ERROR_RT_MEMORY_ALLOCATION",
        "oom-kill:",
        "can't allocate memory",
        "Failed to allocate memory",
        "insufficient memory",
        "insufficient HBM",
    ),
    *_signs(
        *(
            (word, rf"(?i:\b(?:device|hbm|npu|cache|kv) mem\w* (?:is )?{word})")
            for word in ("not enough", "insufficient", "exhausted")
        ),
        ("hbm is not enough", r"(?i:\bhbm is not enough)"),
        ("alloc", r"(?i:\bm?alloc\w* (?:\w+ )?memory\b.*\bfail)"),
        ("alloc", r"\b(?:halMem|drvMem)Alloc\w* (?:execute )?fail"),
        ("kv cache memory: -", r"(?i:available kv cache memory: -)"),
        ("npu oom", r"(?i:\bnpu oom\b)"),
        ("memoryerror", r"^(?:\w+\.)*MemoryError\b"),
        ("npu blocks", r"(?i:\bnumber of npu blocks (?:is|must|should)\b)"),
        ("npumemsize", r"\bnpuMemSize\b.*\btoo (?:large|big)\b"),
        ("malloc", r"\b(?:aclrtMalloc|rtMalloc)\w* (?:execute )?fail"),
        ("207001", r"\berror(?: code| no)?(?: is|[:=])? ?207001\b"),
    ),
)
_GRAPH: Final = (
    *_signs(
        ("graph", r"\b(?:acl ?graph|graph capture|graph compil\w+|capture graph)\b.*\b(?:fail|error)"),
        ("graph", r"\b(?:fail\w*|error)\b.*\b(?:acl ?graph|capture graph|compile graph|graph capture)\b"),
        ("torchair", r"\btorchair\b.*\b(?:fail|error)"),
        ("207008", r"\berror(?: code| no)?(?: is|[:=])? ?207008\b"),
        flags=re.IGNORECASE,
    ),
    *_parts("Insufficient_Stream_Resources", "EL0009", "aclmdlRICapture"),
    *_signs(("graphmanager", r"\bGraphManager\b.*(?i:fail|error)")),
)
_MODEL: Final = (
    *_parts(
        "LLMPythonModel initializes fail",
        "modelWrapper return status is error",
        "Failed to init engine",
        "SafetensorError",
        "Unrecognized model in",
        "in loading state_dict",
        "error while loading shared libraries",
        "cannot open shared object file",
        "trust_remote_code",
    ),
    *_signs(
        ("size mismatch", r"\bsize mismatch for [\w.]+"),
        ("undefined symbol", r"\bundefined symbol: \w+"),
        *((word, rf"(?i:\bweights?\b.*\b{word})") for word in ("not exist", "not found", "missing")),
        ("tokenizer", r"(?i:\btokenizer\b.*\bfail|\bfail\w*\b.*\btokenizer\b)"),
        ("load model", r"(?i:\bload model\b.*\bfail|\bfail\w* to load model\b)"),
        ("load the model", r"(?i:\bfail\w* to load the model\b)"),
        ("not supported", r"(?i:\bmodel (?:type )?\S+ is not supported\b)"),
        (
            "error",
            r"^\s*(?:[\w.]+\.)?(?:Attribute|NotImplemented|Type|Value|Index|Assertion|JSONDecode|UnicodeDecode)Error\b",
        ),
        ("model", r"[Ff]ailed to init(?:ialize)? (?:the )?model"),
        ("error", r"\b(?:ModuleNotFoundError|ImportError|FileNotFoundError|OSError|KeyError)\b"),
        ("safetensors", r"\bsafetensors\b.*\b(?:fail|error|not found)"),
        ("load weight", r"\bload weights?\b.*\bfail"),
    ),
)
_CONSEQUENCES: Final = _parts("ConfigManager init exception", "Failed to initialize ServerConfig")
"""Of a configuration that was refused a line before."""
_NO_DEVICES: Final = _parts("dcmi module initialize failed")
"""Of a container without rights on the devices; a service that needs no dcmi starts all the same."""
_CRASHED: Final = (
    *_parts(
        "received exit signal",
        "was terminated by signal",
        "Segmentation fault",
        "core dumped",
        "daemon killed",
        "SIGSEGV",
        "terminate called after throwing",
        "double free or corruption",
        "stack smashing detected",
        "free(): invalid pointer",
        "段错误",
        "核心已转储",
        "Failed to init endpoint",
        "Failed to start http wrapper",
        "[Start mindie server] [fail]",
    ),
    *_signs(("killed", r"^\s*Killed\s*$"), ("已杀死", r"^\s*已杀死\s*$")),
)
Tier = tuple[tuple[LaunchCause, tuple[Sign, ...]], ...]
TIERS: Final[tuple[Tier, ...]] = (
    (
        (LaunchCause.PERMISSION, _PERMISSION),
        (LaunchCause.PORT, _PORT),
        (LaunchCause.MEMORY, _MEMORY),
        (LaunchCause.CONFIG, _CONFIG),
        (LaunchCause.GRAPH, _GRAPH),
    ),
    (
        (LaunchCause.CONFIG, _CONSEQUENCES),
        (LaunchCause.MODEL, _MODEL),
        (LaunchCause.PERMISSION, _NO_DEVICES),
    ),
    ((LaunchCause.CRASHED, _CRASHED),),
)
"""What says more comes first: a model that does not load is often a consequence, a signal nearly always."""
NO_FAULT: Final = ("use default value", "using default value")
"""Words of a line that looks like a fault and tells of a default."""
