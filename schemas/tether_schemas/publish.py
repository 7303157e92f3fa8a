"""The published JSON Schemas: `python -m tether_schemas.publish` writes them into the package; a test compares.

They say what a JSON Schema can. What it cannot (times that do not exist, subjects that are none, a verdict with an
interval) the models refuse besides.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import orjson
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from tether_schemas.builtin import MEMORY_LINK, MEMORY_WRITE, MemoryLink, MemoryWrite
from tether_schemas.events import EVENT_MODELS
from tether_schemas.facts import RECORD_VERSION, FactRecord
from tether_schemas.policy import Policy
from tether_schemas.rules import RULES_VERSION, RulesDocument

FOLDER = "json"


def documents() -> dict[str, bytes]:
    """Each schema by its file name: events, arguments of the built-in tools, rules, policy, and fact records."""
    models: dict[str, type[BaseModel]] = {
        **{get_args(model.model_fields["type"].annotation)[0]: model for model in EVENT_MODELS},
        MEMORY_WRITE: MemoryWrite,
        MEMORY_LINK: MemoryLink,
        f"rules.v{RULES_VERSION}": RulesDocument,
        "policy": Policy,
        f"facts.v{RECORD_VERSION}": FactRecord,
    }
    return {f"{name}.json": _document(name, model) for name, model in models.items()}


def published() -> dict[str, bytes]:
    """What stands in the package, by file name."""
    folder = files("tether_schemas") / FOLDER
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith(".json")}


def _document(name: str, model: type[BaseModel]) -> bytes:
    schema: dict[str, Any] = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"urn:tether:schema:{name}"}
    schema |= model.model_json_schema()
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def write(folder: Path) -> None:
    """Write every schema into a folder, and remove what is no schema of this version."""
    wanted = documents()
    folder.mkdir(exist_ok=True)
    for file in folder.glob("*.json"):
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        (folder / name).write_bytes(text)


if __name__ == "__main__":
    write(Path(__file__).parent / FOLDER)
