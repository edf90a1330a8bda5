"""Benchmarks and evaluations are loaded in development and the demo, and not in production."""

import os
import subprocess
import sys

import pytest

from tests.test_architecture import ROOT

PRINT_APPS = "from copilot_site.settings import INSTALLED_APPS; print('evals' in INSTALLED_APPS)"


@pytest.mark.parametrize(("https", "is_loaded"), [("true", "False"), ("false", "True")])
def test_a_site_behind_https_loads_no_evaluations(https: str, is_loaded: str) -> None:
    environment = os.environ | {"COPILOT_HTTPS": https}
    words = [sys.executable, "-c", PRINT_APPS]
    done = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == is_loaded


def test_the_image_holds_no_evaluations() -> None:
    assert "evals" in (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
