"""The one table of who gets what at which address, as it is written in tests/golden/routes.txt. Other tests read it, too."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from tests.goldens import is_rewriting
from tests.integration.routes.addresses import Route, routes
from tests.integration.routes.world import ROLES

TABLE = Path(__file__).parents[2] / "golden" / "routes.txt"
HEAD = f"{'':<76}" + "".join(f"{role:>7}" for role in ROLES) + "  scopes of a token"
IDS = {
    "session_id",
    "message_id",
    "share_id",
    "folder_id",
    "base_id",
    "document_id",
    "chunk_id",
    "token_id",
    "place_id",
    "pk",
    "saved_id",
    "kept_id",
    "entity_id",
    "approval_id",
    "verified_id",
}


def written() -> str:
    return TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""


def lines() -> dict[Route, str]:
    """Address → its line, as it is written."""
    return _lines_of(written())


@lru_cache(2)  # as it is, and as it is written anew
def _lines_of(table: str) -> dict[Route, str]:
    found = {}
    for text in table.splitlines()[1:]:
        method, address = text.split()[:2]
        if method not in {"SOCKET", "TASK"}:
            found[Route(method.lower(), address.removeprefix("/"))] = text
    return found


def rows() -> dict[Route, dict[str, int]]:
    """Address → role → status."""
    return _rows_of(written())


@lru_cache(2)
def _rows_of(table: str) -> dict[Route, dict[str, int]]:
    cells = {route: text.split()[2 : 2 + len(ROLES)] for route, text in _lines_of(table).items()}
    return {route: dict(zip(ROLES, map(int, statuses), strict=True)) for route, statuses in cells.items()}


def scopes(route: Route) -> list[str]:
    """The scopes of a token that open this address, each alone; the pairs that do where no single one does."""
    return [word for word in lines()[route].split()[2 + len(ROLES) :] if word != "-"]


def areas() -> dict[str, list[Route]]:
    """The addresses of the table in groups, by the begin of their paths."""
    ordered = sorted(lines(), key=area)
    return {name: list(group) for name, group in groupby(ordered, key=area)}


def area(route: Route) -> str:
    parts = route.path.split("/")
    return "/".join(parts[: {"api": 3, "admin": 2}.get(parts[0], 1)]) or "first page"


def assert_lines(found: Mapping[Route, str]) -> None:
    """These lines are what the table says. `REWRITE_GOLDEN=1` writes them, in the order of the URLconf, and drops what is gone."""
    if is_rewriting():
        told = lines() | dict(found)
        rest = [text for text in written().splitlines() if text.startswith(("SOCKET", "TASK"))]
        table = [HEAD, *(told[route] for route in routes() if route in told), *rest]
        TABLE.write_text("".join(f"{text}\n" for text in table), encoding="utf-8")
    now = lines()
    assert found == {route: now.get(route) for route in found}, (
        f"{TABLE.name} has changed: look at the diff of REWRITE_GOLDEN=1"
    )


def with_an_id() -> Iterator[Route]:
    """The addresses that name a row which somebody may not see."""
    for route, got in rows().items():
        if got["none"] == 404 and IDS & set(route.names):
            yield route


def pages() -> list[Route]:
    """The pages that show something to whoever may view it, and to nobody else."""
    return [
        route for route in with_an_id() if _is_page(route) and route.method == "get" and rows()[route]["view"] < 400
    ]


def actions() -> list[Route]:
    """What needs more than to view: it changes something, or hands out the original."""
    return [route for route in with_an_id() if _is_page(route) and rows()[route]["view"] == 403]


def _is_page(route: Route) -> bool:
    return not route.path.startswith(("api/", "admin/"))
