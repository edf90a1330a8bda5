"""The diagrams of docs/ARCHITECTURE.md, drawn from the code: who imports whom, and which state leads to which.

`python -m scripts.diagrams` says whether they are current, `--write` writes them.
"""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
# Parts of the house, upper floors first, with what each is for. The longest name that fits a module is its part.
PARTS = {
    "copilot_site": "wiring: settings, addresses, start-up",
    "demo": "the demo company",
    "evals": "benchmarks and evaluations; not in production",
    "agent": "a question → an answer with evidence",
    "business": "a question about business data → a statement in a sandbox → a result",
    "knowledge": "bases, folders, documents, retrieval",
    "authz": "who may see and do what",
    "audit": "what was done",
    "copilot_site.lib": "no domain words",
}


def part_of(module: str) -> str | None:
    """The part a module belongs to; None for what is not ours."""
    fitting = [part for part in PARTS if f"{module}.".startswith(f"{part}.")]
    return max(fitting, key=len, default=None)


def imports(path: Path) -> Iterator[str]:
    """Modules that a file imports, at whatever depth of the code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def arrows() -> set[tuple[str, str]]:
    """(importer, imported) for every pair of parts; migrations are history and not looked at."""
    found = set()
    for top in {part.partition(".")[0] for part in PARTS}:
        for path in (ROOT / top).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            importer = part_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for module in imports(path):
                imported = part_of(module)
                if importer and imported and importer != imported:
                    found.add((importer, imported))
    return found


def apps() -> str:
    """The parts and their imports as a mermaid flowchart."""
    order = list(PARTS)
    lines = [f'    {_id(part)}["<b>{part}</b><br/>{text}"]' for part, text in PARTS.items()]
    drawn = sorted(arrows(), key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    lines += [f"    {_id(upper)} --> {_id(lower)}" for upper, lower in drawn]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def states() -> str:
    """The transition table of a run as a mermaid state diagram."""
    from agent.run_state.state import State
    from agent.workflow import NEXT

    lines = [f"    [*] --> {next(iter(State))}"]
    for state, after in NEXT.items():
        lines += [f"    {state} --> {following}" for following in State if following in after]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, f"    {State.DONE} --> [*]", "```"])


def redrawn(text: str) -> str:
    """The page with both diagrams between their markers drawn anew. Raises ValueError where a marker is missing."""
    for name, diagram in {"apps": apps(), "states": states()}.items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if not 0 <= text.find(start) < text.find(end):
            raise ValueError(f"{PAGE.name} lacks the markers {start} and {end}")
        before, after = text[: text.index(start) + len(start)], text[text.index(end) :]
        text = f"{before}\n{diagram}\n{after}"
    return text


def _id(part: str) -> str:
    return part.replace(".", "_")


def main() -> None:
    """Exit code 1 when the page is older than the code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
    django.setup()
    before = PAGE.read_text(encoding="utf-8")
    after = redrawn(before)
    if "--write" in sys.argv:
        PAGE.write_text(after, encoding="utf-8")
    elif before != after:
        sys.exit("docs/ARCHITECTURE.md is older than the code: run `python -m scripts.diagrams --write`")


if __name__ == "__main__":
    main()
