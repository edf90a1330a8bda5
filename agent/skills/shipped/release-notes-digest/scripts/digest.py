"""digest.py: the entries of the given release notes by kind, and a table of them as release-notes.csv."""

import csv
import json
import re
import sys
from pathlib import Path

GIVEN = Path(__file__).resolve().parents[1] / "given" / "documents.json"
KINDS = {
    "security": r"security|vulnerab|CVE-|安全|漏洞",
    "removed": r"remov|deprecat|discontinu|no longer|移除|删除|弃用|废弃",
    "fixed": r"fix|bug|resolv|修复|解决",
    "new": r"add|new|introduc|新增|新功能|支持|推出",
    "changed": r"chang|improv|updat|faster|优化|改进|变更|更新|调整",
}
MOST = 30  # entries of a kind that are told; the table has all
_FORMULA = ("=", "+", "-", "@")


def main() -> None:
    documents = json.loads(GIVEN.read_text(encoding="utf-8"))
    entries = [
        (kind, document["title"], line) for document in documents for kind, line in _list_entries(document["blocks"])
    ]
    if not entries:
        sys.exit("These documents have no entries: name release notes in documents.")
    with Path("release-notes.csv").open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.writer(file)
        table.writerow(("kind", "document", "entry"))
        table.writerows((kind, _escape_formula(title), _escape_formula(line)) for kind, title, line in entries)
    for kind in (*KINDS, "other"):
        found = [f"{line} ({title})" for entry, title, line in entries if entry == kind]
        print(*[f"{kind}: {line}" for line in found[:MOST]], sep="\n", end="\n" if found else "")


def _escape_formula(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _list_entries(blocks: list[str]) -> list[tuple[str, str]]:
    """Kind and text of each line; a heading that names a kind counts for the lines below it."""
    found, under = [], ""
    for line in (" ".join(part.lstrip("-*• ").split()) for block in blocks for part in block.splitlines()):
        kind = next((kind for kind, words in KINDS.items() if re.search(words, line, re.IGNORECASE)), "")
        if len(line) < 25 and kind:
            under = kind
        elif len(line) >= 8:
            found.append((under or kind or "other", line))
    return found


if __name__ == "__main__":
    main()
