"""One distribution, five import packages, no generic name in site-packages."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from tests.house.source import PACKAGES, ROOT, files, none, text_of

# Folders at the root that may hold Python files, beside the five that hold the packages.
OTHER_FOLDERS = {"tests", "benchmarks", "docs"}


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def stray_faults(names: tuple[str, ...]) -> list[str]:
    """Python files outside the five packages, the tests, the benchmarks and the docs."""
    homes = (*(folder + "/" for folder in PACKAGES.values()), *(folder + "/" for folder in OTHER_FOLDERS))
    return [
        f"{name} lies in no package" for name in names if name.endswith((".py", ".pyi")) and not name.startswith(homes)
    ]


def folder_faults(tool: dict[str, Any]) -> list[str]:
    """Settings of pyproject.toml that name other folders than those of the five packages."""
    build = tool["hatch"]["build"]
    parents = sorted({str(Path(folder).parent) for folder in PACKAGES.values()})
    wanted = [
        ("the wheel's packages", build["targets"]["wheel"]["packages"], sorted(PACKAGES.values())),
        ("hatch's dev-mode-dirs", build["dev-mode-dirs"], parents),
        ("pyright's extraPaths", tool["pyright"]["extraPaths"], parents),
    ]
    return [f"{what} are {found}, not {folders}" for what, found, folders in wanted if sorted(found) != folders]


def wheel_faults(names: list[str]) -> list[str]:
    """Files of a wheel that are not below the five names or its own dist-info, and files that must be there."""
    tops = {name.partition("/")[0] for name in names}
    faults = [f"the wheel holds {top}" for top in sorted(tops - set(PACKAGES)) if not top.endswith(".dist-info")]
    wanted = [f"{package}/{file}" for package in PACKAGES for file in ("__init__.py", "py.typed")]
    return faults + [f"the wheel lacks {name}" for name in wanted if name not in names]


def data_faults(notice: str, names: tuple[str, ...]) -> list[str]:
    """Folders of real inputs whose source and licence NOTICE does not give."""
    parts = [name.split("/") for name in names if name.startswith("tests/data/")]
    folders = sorted({"/".join(part[:3]) for part in parts if len(part) > 3})
    return [f"NOTICE does not name {folder}" for folder in folders if not re.search(re.escape(folder) + r"\b", notice)]


def test_pyproject_names_the_five_packages_and_their_folders() -> None:
    none(folder_faults(settings()["tool"]))


def test_a_package_that_pyproject_forgets_is_found() -> None:
    tool = settings()["tool"]
    tool["hatch"]["build"]["targets"]["wheel"]["packages"].remove("replay/tether_replay")
    tool["pyright"]["extraPaths"].append("lib")
    assert len(folder_faults(tool)) == 2


def test_each_package_says_that_it_is_typed() -> None:
    none([f"{folder}/py.typed is missing" for folder in PACKAGES.values() if f"{folder}/py.typed" not in files()])


def test_no_python_file_lies_outside_the_packages() -> None:
    none(stray_faults(files()))


def test_the_wheel_holds_the_five_packages_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        none(wheel_faults(archive.namelist()))


def test_notice_names_the_data_that_is_carried() -> None:
    none(data_faults(text_of("NOTICE") or "", files()))


def test_a_stray_file_is_found() -> None:
    assert stray_faults(("setup.py", "schemas/helpers.py", "tether/cli.py")) == [
        "setup.py lies in no package",
        "schemas/helpers.py lies in no package",
    ]


def test_a_generic_name_or_a_missing_marker_is_found() -> None:
    good = [f"{package}/{file}" for package in PACKAGES for file in ("__init__.py", "py.typed")]
    assert not wheel_faults([*good, "tether-0.1.0.dist-info/RECORD"])
    assert wheel_faults([*good[1:], "streams/x.py"]) == ["the wheel holds streams", f"the wheel lacks {good[0]}"]


def test_data_without_a_licence_is_found() -> None:
    assert data_faults("tests/data/a: x", ("tests/data/a/x", "tests/data/b/y")) == ["NOTICE does not name tests/data/b"]
