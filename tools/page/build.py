"""Make the libraries of the page from npm's packages, or check the types of the page's own modules.

    python tools/page/build.py vendor     # static/vendor, which is part of the repository
    python tools/page/build.py types      # tsc over static; without Node it only says so

Both work in build/page, where npm puts the packages whose versions `package.json` names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STATIC = ROOT / "src/graphtide/web/static"
WORK = ROOT / "build/page"
ENTRIES = "preact", "uplot", "sigma", "editor"
SHIPPED = (
    *("preact", "htm", "uplot", "sigma", "graphology", "graphology-utils", "events", "crelt"),
    *(f"@codemirror/{name}" for name in ("autocomplete", "commands", "language", "lint", "state")),
    *("@codemirror/view", "@lezer/common", "@lezer/highlight", "@lezer/lr"),
    *("@marijn/find-cluster-break", "style-mod", "w3c-keyname"),
)


def main() -> int:
    """Carry out the one that is asked for."""
    wanted = sys.argv[1:]
    if wanted not in (["vendor"], ["types"]):
        print(__doc__)
        return 2
    if shutil.which("npm") is None:
        print("no Node here: the types of the page are not checked")
        return 0 if wanted == ["types"] else 1
    install()
    return make_vendor() if wanted == ["vendor"] else check_types()


def install() -> None:
    """The packages, in build/page, with the page's modules linked beside them."""
    WORK.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(HERE / name, WORK / name)
    for name, target in (("entries", HERE / "entries"), ("static", STATIC)):
        shutil.rmtree(WORK / name, ignore_errors=True)
        shutil.copytree(target, WORK / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
    subprocess.run(command, cwd=WORK, check=True)


def make_vendor() -> int:
    """A minified module of each entry, the style sheet of the charts, all licences, and a list."""
    target = STATIC / "vendor"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in ENTRIES:
        options = ["--bundle", "--format=esm", "--minify", "--legal-comments=none"]
        out = f"--outfile={target / name}.js"
        command = ["npx", "--no-install", "esbuild", f"entries/{name}.js", *options, out]
        subprocess.run([*command, "--log-level=warning"], cwd=WORK, check=True)
    packages = WORK / "node_modules"
    shutil.copy(packages / "uplot/dist/uPlot.min.css", target / "uplot.css")
    (target / "LICENSES.txt").write_text("\n".join(licence(packages / name) for name in SHIPPED))
    listed = [component(packages / name) for name in SHIPPED]
    (target / "components.json").write_text(json.dumps(listed, indent=1) + "\n")
    return 0


def component(package: Path) -> dict[str, str]:
    """What the notice and bills of materials say of a package."""
    facts = json.loads((package / "package.json").read_text())
    return {"name": facts["name"], "version": facts["version"], "licence": facts["license"]}


def licence(package: Path) -> str:
    """The licence of a package under its name; an error where it has none."""
    found = sorted(path for path in package.iterdir() if path.name.upper().startswith("LICEN"))
    text = found[0].read_text() if found else (package / "package.json").read_text()
    name = package.relative_to(package.parents[1 if package.parent.name[0] == "@" else 0])
    return f"{'=' * 80}\n{name}\n{'=' * 80}\n\n{text}"


def check_types() -> int:
    """What tsc says."""
    return subprocess.run(["npx", "--no-install", "tsc", "-p", "."], cwd=WORK).returncode


if __name__ == "__main__":
    sys.exit(main())
