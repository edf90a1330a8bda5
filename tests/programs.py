"""Programs that tests need and that no requirement file of the quick tier installs. A test names its own: `@pytest.mark.needs("git")`.

Where one is missing the test is skipped, and the run names the program in its closing line. With CI=true the test fails.
"""

import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

OLDER_POSTGRES = Path("/usr/lib/postgresql/15/bin")  # of Debian 12
WIKIS = Path("/opt/wikis/usr/share")  # where scripts/system-packages unpacks them
PHPSECLIB = WIKIS / "php" / "phpseclib" / "bootstrap.php"
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
SLAPD = Path("/usr/sbin/slapd")
BROWSERS = ("chromium", "chromium-browser")


def which(name: str) -> str | None:
    """The program's path; servers lie outside an ordinary PATH."""
    return shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin")


FOUND: dict[str, Callable[[], bool]] = {
    "Chromium": lambda: any(which(name) for name in BROWSERS),
    "bubblewrap": lambda: bool(which("bwrap")),
    "libfaketime": lambda: FAKETIME is not None,
    "git": lambda: bool(which("git")),
    "MariaDB": lambda: bool(which("mariadbd")),
    "PostgreSQL 15": OLDER_POSTGRES.is_dir,
    "OpenLDAP and python-ldap": lambda: SLAPD.is_file() and find_spec("ldap") is not None,
    "MediaWiki and PHP": lambda: bool(which("php")) and (WIKIS / "mediawiki/includes/libs").is_dir(),
    "DokuWiki and PHP": lambda: bool(which("php")) and PHPSECLIB.is_file(),
    "markitdown": lambda: find_spec("markitdown") is not None,
    "torch": lambda: find_spec("sentence_transformers") is not None,
}
# Installed for `make test-all` alone: the quick tier leaves out the tests that need them.
EXHAUSTIVE = {
    "libfaketime",
    "MariaDB", "PostgreSQL 15", "OpenLDAP and python-ldap", "MediaWiki and PHP", "DokuWiki and PHP", "markitdown",
    "torch",
}  # fmt: skip
MARKS = {"browser": "Chromium", "models": "torch"}
REASON = "needs "


def skip_without(program: str) -> None:
    """Skip the running test where the program is missing; fail it in CI, which installs all that a tier needs."""
    if FOUND[program]():
        return
    if os.environ.get("CI"):
        pytest.fail(f"{program} is missing, and CI has to have it: scripts/system-packages", pytrace=False)
    pytest.skip(REASON + program)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture starts what is not there."""
    for program in needed(item):
        skip_without(program)


def needed(item: pytest.Item) -> list[str]:
    """The programs that a test's marks name."""
    named = [str(program) for mark in item.iter_markers("needs") for program in mark.args]
    return named + [program for mark, program in MARKS.items() if item.get_closest_marker(mark)]
