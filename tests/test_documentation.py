"""Every link between the pages of the documentation leads somewhere, in the repository and on the site that `make docs` builds."""

import re
import subprocess
from pathlib import Path

from tests.homes import ROOT

LINK = re.compile(r"(?<!`)\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
MADE = {"api.md"}  # by scripts/docs
COPIED = re.search(
    r"^cp --parents -r (.*?) \"\$DOCS_FOLDER\"", (ROOT / "scripts" / "docs").read_text(), re.DOTALL | re.MULTILINE
)


def published() -> list[Path]:
    """Return the tracked files that scripts/docs copies, as paths from the root."""
    assert COPIED
    done = subprocess.run(
        ["git", "ls-files", *COPIED[1].replace("\\", " ").split()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [Path(line) for line in done.stdout.splitlines()]


def test_links_of_published_pages_lead_to_published_files() -> None:
    files = published()
    there = {ROOT / path for path in files} | {(ROOT / path).parent for path in files}
    pages = [path for path in files if path.suffix == ".md"]
    links = [(path, link) for path in pages for link in LINK.findall(CODE.sub("", (ROOT / path).read_text()))]
    assert len(links) > 300, "the pattern finds the links"
    dead = {(str(path), link) for path, link in links if (ROOT / path.parent / link).resolve() not in there}
    assert {item for item in dead if item[1] not in MADE} == set()
