"""The one table of who gets what at which address, as it is written in tests/golden/routes.txt. Other tests read it, too."""

from collections.abc import Iterator
from pathlib import Path

from tests.integration.routes.addresses import Route
from tests.integration.routes.world import ROLES

TABLE = Path(__file__).parents[2] / "golden" / "routes.txt"
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
}


def written() -> str:
    return TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""


def rows(table: str | None = None) -> dict[Route, dict[str, int]]:
    """Address → role → status. table: another text than the golden one."""
    found = {}
    for text in (table if table is not None else written()).splitlines()[1:]:
        method, address, *cells = text.split()
        if method not in {"SOCKET", "TASK"}:
            statuses = [int(cell) for cell in cells[: len(ROLES)]]
            found[Route(method.lower(), address.removeprefix("/"))] = dict(zip(ROLES, statuses, strict=True))
    return found


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
