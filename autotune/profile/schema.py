"""Profile: the whole of what a user writes, as frozen sections with defaults."""

from typing import Annotated

from pydantic import Field

from autotune.profile.engine_section import EngineSection, EnvironmentSection, ModelSection, ServiceSection
from autotune.profile.operation_section import HostSection, NightlySection, ReportSection, StoreSection
from autotune.profile.search_section import MeasuringSection, ObjectiveSection, SearchSection
from autotune.profile.secret import SecretReference
from autotune.profile.section import Section
from autotune.profile.workload_section import (
    CommandSource,
    DatasetSection,
    LengthSection,
    SamplingSection,
    TlsSection,
    WorkloadSection,
)

__all__ = [
    "CommandSource",
    "DatasetSection",
    "EngineSection",
    "EnvironmentSection",
    "HostSection",
    "LengthSection",
    "MeasuringSection",
    "ModelSection",
    "NightlySection",
    "ObjectiveSection",
    "Profile",
    "ReportSection",
    "SamplingSection",
    "SearchSection",
    "SecretReference",
    "ServiceSection",
    "StoreSection",
    "TlsSection",
    "WorkloadSection",
]


class Profile(Section):
    """One tuning job. Only `engine` must be given; everything else has a default."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    engine: EngineSection
    model: ModelSection = ModelSection()
    workload: WorkloadSection = WorkloadSection()
    objective: ObjectiveSection = ObjectiveSection()
    search: SearchSection = SearchSection()
    measuring: MeasuringSection = MeasuringSection()
    host: HostSection = HostSection()
    report: ReportSection = Field(default_factory=dict, validate_default=True)
    nightly: NightlySection = NightlySection()
    store: StoreSection = StoreSection()
