"""The published JSON Schemas are those of the models: `python -m tether_schemas.publish` writes them."""

from pathlib import Path

import orjson
import pytest
from tether_schemas.publish import documents, published, write
from tether_schemas.topics import TOPIC_OF_TYPE


def test_the_package_holds_what_the_models_say() -> None:
    assert published() == documents(), "run python -m tether_schemas.publish"


def test_each_event_type_is_published() -> None:
    assert {f"{name}.json" for name in TOPIC_OF_TYPE} <= documents().keys()


@pytest.mark.parametrize("name", sorted(documents()))
def test_a_schema_says_which_it_is(name: str) -> None:
    schema = orjson.loads(documents()[name])
    assert schema["$id"] == f"urn:tether:schema:{name.removesuffix('.json')}"
    assert schema["$schema"].startswith("https://json-schema.org/")


def test_writing_removes_what_is_no_schema_any_more(tmp_path: Path) -> None:
    (tmp_path / "tether.old.v1.json").write_text("{}")
    write(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == documents()
