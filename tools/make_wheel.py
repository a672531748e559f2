"""Make a wheel that brings machine code: `python tools/make_wheel.py [folder [programs...]]`.

The library's programs are compiled for a named baseline of processors into an empty cache; what is
then in it goes into the package, with a manifest that says what it fits. Its tag names the Python
that the machine code calls, and the systems of Numba, which links it: elsewhere pip refuses the
wheel and takes another. Where the tag fits and the processor or Numba's version does not, kernels
are compiled at their first use.

A bill of materials (CycloneDX) lies beside the wheel, and in its metadata (PEP 770).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.components import sbom

ROOT = Path(__file__).parents[1]
BASELINES = {
    "x86_64": ("x86-64-v3", ["avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"]),
    "aarch64": ("generic", []),
}
MOST_BYTES = 40 << 20
PACKAGES = 'packages = ["src/graphtide"]'
SBOM = "graphtide.cdx.json"
HOOK = """
[tool.hatch.build.targets.wheel.hooks.custom]
"""
HOOK_CODE = """from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = {tag!r}
"""


def main() -> None:
    """Compile, pack, and say how large it became."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as folder:
        staged = stage(Path(folder) / "source")
        package = staged / "src" / "graphtide"
        ship(compiled(Path(folder) / "cache", staged), package / "machine_code")
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(out), str(staged)]
        subprocess.run([*command, "--quiet"], check=True)
        shutil.copy(staged / SBOM, out)
    wheel = max(out.glob("graphtide-*.whl"), key=lambda path: path.stat().st_mtime)
    print(f"{wheel}: {wheel.stat().st_size / 2**20:.1f} MB")
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"the wheel is larger than {MOST_BYTES >> 20} MB")


def stage(folder: Path) -> Path:
    """A copy of what a wheel is made from."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", "machine_code")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    project = folder / "pyproject.toml"
    listed = f'{PACKAGES}\nsbom-files = ["{SBOM}"]'
    project.write_text(project.read_text().replace(PACKAGES, listed) + HOOK)
    (folder / "hatch_build.py").write_text(HOOK_CODE.format(tag=wheel_tag()))
    (folder / SBOM).write_text(json.dumps(sbom(version("graphtide")), indent=1))
    return folder


def wheel_tag() -> str:
    """The tag of the wheel: that of Numba as it is installed here."""
    lines = (distribution("numba").read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ").split("-") for line in lines if line.startswith("Tag: ")]
    if not tags or any(platform == "any" for *_, platform in tags):
        sys.exit("Numba is not installed from a wheel with a platform: its tag is that of ours")
    return "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))


def compiled(cache: Path, staged: Path) -> Path:
    """A cache that has the machine code of the whole library, for the baseline."""
    cpu, _ = baseline()
    environment = {
        **os.environ,
        "GRAPHTIDE_CACHE": str(cache),
        "NUMBA_CPU_NAME": cpu,
        "NUMBA_CPU_FEATURES": "",
        "PYTHONPATH": str(staged / "src"),
    }
    cache.mkdir(mode=0o700)
    script = str(ROOT / "tools" / "compile_library.py")
    subprocess.run([sys.executable, script, *sys.argv[2:]], check=True, env=environment)
    return cache


def ship(cache: Path, into: Path) -> None:
    """Copy machine code under names that do not tell where it was compiled."""
    import llvmlite.binding as llvm
    import numba

    (kernels,) = cache.glob("kernels-*")
    into.mkdir()
    for path in kernels.glob("*/*.nbc"):
        package = into / path.parent.name.rsplit("_", 1)[0]
        package.mkdir(exist_ok=True)
        shutil.copy(path, package)
    cpu, needs = baseline()
    manifest = {
        "kernels": kernels.name.removeprefix("kernels-"),
        "numba": numba.__version__,
        "python": list(sys.version_info[:2]),
        "magic": [llvm.get_process_triple(), cpu, ""],
        "needs": needs,
    }
    (into / "manifest.json").write_text(json.dumps(manifest, indent=2))


def baseline() -> tuple[str, list[str]]:
    """The processors that machine code is made for, and what they must have."""
    machine = platform.machine()
    if machine not in BASELINES:
        sys.exit(f"there is no baseline for processors of the kind {machine}")
    return BASELINES[machine]


if __name__ == "__main__":
    main()
