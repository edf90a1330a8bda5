"""docs/ARCHITECTURE.md gives each app a budget of lines; no app is above its own."""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
APPS = ("agent", "audit", "authz", "business", "copilot_client", "copilot_site", "demo", "evals", "knowledge")
ROW = re.compile(r"^\| ((?:`\w+/`(?: and )?)+) \| ([\d,]+) \|", re.MULTILINE)


def budgets(text: str) -> dict[tuple[str, ...], int]:
    """Return the budget of each app, or of apps that share one, from the table under "## Weight"."""
    section = text.partition("\n## Weight\n")[2].partition("\n## ")[0]
    return {tuple(re.findall(r"\w+(?=/)", apps)): int(lines.replace(",", "")) for apps, lines in ROW.findall(section)}


def lines_of(folder: Path) -> int:
    """Count lines of Python below a folder, without tests and migrations."""
    files = (path for path in folder.rglob("*.py") if not {"tests", "migrations"} & {*path.relative_to(folder).parts})
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def above(budget: Mapping[tuple[str, ...], int], lines: Mapping[str, int]) -> list[str]:
    """Return a sentence for each app whose lines are above its budget."""
    found = ((apps, most, sum(lines[app] for app in apps)) for apps, most in budget.items())
    return [f"{' and '.join(apps)}: {now:,} lines, budget {most:,}" for apps, most, now in found if now > most]


def test_no_app_is_above_its_budget() -> None:
    budget = budgets(PAGE.read_text(encoding="utf-8"))
    assert sorted(app for apps in budget for app in apps) == sorted(APPS), "each app has one budget"
    lines = {app: lines_of(ROOT / app) for app in APPS}
    for app, count in lines.items():
        print(f"{app:16}{count:7,}")  # shown by -s, and when the test fails
    assert above(budget, lines) == []


def test_an_app_above_its_budget_is_named() -> None:
    table = (
        "\n## Weight\n\n| `demo/` and `copilot_client/` | 1,900 | 1,900 |\n| `audit/` | 3,000 | 3,000 |\n\n## More\n"
    )
    lines = {"demo": 1_200, "copilot_client": 701, "audit": 3_000}
    assert above(budgets(table), lines) == ["demo and copilot_client: 1,901 lines, budget 1,900"]


def test_tests_and_migrations_weigh_nothing(tmp_path: Path) -> None:
    for name in ("models.py", "migrations/0001_initial.py", "tests/test_models.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\ntwo\n", encoding="utf-8")
    assert lines_of(tmp_path) == 2
