"""docs/THIRD_PARTY.md: every package that the product installs, with version and licence, from the locked requirements.

`python -m scripts.licences` fails where the page is older than `requirements/base.txt`; `--write` makes it from what is installed.
"""

import re
import sys
from collections.abc import Iterator
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, PAGE = ROOT / "requirements" / "base.txt", ROOT / "docs" / "THIRD_PARTY.md"
PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^ \\;]+)", re.MULTILINE)
HEAD = """# Third-party packages

Written by `python -m scripts.licences --write` from `requirements/base.txt` and what the packages say of themselves; `make lint` fails
when it is older. Data that comes inside packages (embedding model, dictionary, word frequencies) and what is young:
[DEPENDENCIES.md](DEPENDENCIES.md).

| package | version | licence |
|---|---|---|
"""
LONGEST = 60  # characters; what is longer is the text of a licence


def locked() -> list[tuple[str, str]]:
    return PINNED.findall(LOCK.read_text(encoding="utf-8"))


def written() -> list[tuple[str, str]]:
    """Names and versions of the page."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return re.findall(r"^\| ([A-Za-z0-9_.-]+) \| ([^ |]+) \|", page, re.MULTILINE)[1:]


def licence(package: str) -> str:
    """What the installed package says: its expression, else its classifiers, else the first line of its field."""
    try:
        said: Message = metadata(package)  # type: ignore[assignment]  # which it is, whatever the protocol leaves out
    except PackageNotFoundError:
        return "not installed on the machine that wrote this (another platform)"
    names = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or () if line.startswith("License ::")]
    field = (said.get("License") or "").strip()
    short = field.splitlines()[0] if field and len(field.splitlines()[0]) <= LONGEST else ""
    named = ", ".join(name for name in names if name != "OSI Approved")
    return said.get("License-Expression") or named or short or "see the package"


def page() -> Iterator[str]:
    yield HEAD
    for package, version in locked():
        yield f"| {package} | {version} | {licence(package)} |\n"


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        PAGE.write_text("".join(page()), encoding="utf-8")
        return 0
    if written() != locked():
        sys.stderr.write(
            "docs/THIRD_PARTY.md is older than requirements/base.txt: python -m scripts.licences --write\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
