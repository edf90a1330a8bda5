"""compare.py: what was taken out of the first of two given documents, and what was put into the second."""

import json
import sys
from difflib import SequenceMatcher
from pathlib import Path

GIVEN = Path(__file__).resolve().parents[1] / "given" / "documents.json"
MOST = 40  # differences that are told, of each kind


def main() -> None:
    documents = json.loads(GIVEN.read_text(encoding="utf-8"))
    if len(documents) != 2:
        sys.exit("Name two documents or versions, the older one first.")
    older, newer = documents
    removed: list[str] = []
    added: list[str] = []
    steps = SequenceMatcher(None, older["blocks"], newer["blocks"], autojunk=False).get_opcodes()
    for kind, a, b, c, d in steps:
        if kind != "equal":
            removed += older["blocks"][a:b]
            added += newer["blocks"][c:d]
    names = [f"{document['title']}, version {document['version']}" for document in documents]
    lines = [f"From “{names[0]}” to “{names[1]}”: {len(removed)} paragraphs taken out, {len(added)} put in."]
    for head, found in (("Taken out", removed), ("Put in", added)):
        lines += [f"{head}: {text}" for text in found[:MOST]]
        lines += [f"{head}: {len(found) - MOST} more"] if len(found) > MOST else []
    print("\n".join(lines))


if __name__ == "__main__":
    main()
