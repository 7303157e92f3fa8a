"""Settings: one frozen value, read from `TETHER_*` when a store is opened, never at import."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict
from tether_schemas.errors import BadRequest
from tether_schemas.fields import first_fault

MIB = 1024 * 1024
ENV_PREFIX = "TETHER_"


class Settings(BaseSettings):
    """How a store runs. Each field is the environment variable of its name in capitals after `TETHER_`."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, frozen=True, extra="forbid")

    data: Path | None = Field(default=None, description="data directory of the command line")
    namespace: str | None = Field(default=None, description="namespace of the command line")
    payload_bytes_max: int = Field(
        default=16 * MIB, ge=1024, le=512 * MIB, description="the bytes of an event's data as JSON"
    )
    future_skew_max_s: int = Field(
        default=300, ge=0, le=86_400, description="how far an event's times may lie ahead of the log's clock"
    )
    synchronous: Literal["FULL", "NORMAL"] = Field(
        default="FULL", description="FULL: receipts survive a crash of the machine; NORMAL: one of the process"
    )
    busy_timeout_ms: int = Field(
        default=30_000, ge=0, le=600_000, description="how long an append waits for another process's"
    )
    batch_records_max: int = Field(
        default=1_000, ge=1, le=100_000, description="records that go through a stage of the pipeline at once"
    )
    view_memory_mb: int = Field(default=1024, ge=64, le=1_048_576, description="memory limit of DuckDB, in MB")
    view_threads: int = Field(default=2, ge=1, le=256, description="threads of DuckDB")


def load_settings(**given: Any) -> Settings:
    """The settings from the environment; what is `given` wins. Raises BadRequest naming the setting at fault."""
    try:
        return Settings(**given)
    except ValidationError as error:
        fault = first_fault(error)
        raise BadRequest(ENV_PREFIX + fault.field.upper(), fault.reason) from None
