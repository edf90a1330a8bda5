"""What an identity provider may send by mistake or by malice: refused in the words of SCIM, never an error of ours."""

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User

from tests.factories import make_user
from tests.integration.scim.program import GROUP, PATCH, USER, Program

pytestmark = pytest.mark.django_db
HALF, DEEP = "\\ud800", 5_000
FILTERS = [
    "(" * DEEP + 'userName eq "a"' + ")" * DEEP,
    "not (" * DEEP + 'userName eq "a"' + ")" * DEEP,
    "emails[" * 100 + "value pr" + "]" * 100,
    " and ".join(['userName eq "a"'] * 3_000),
    f'userName eq "{HALF}"',
    f'userName ne "{HALF}"',
    'userName eq "\\u0000"',
    f'userName eq "{"x" * 20_000}"',
    f"userName eq {'9' * 5_000}",
    "userName gt 5",
    "meta.created gt true",
    "\x00",
    '"',
]


def bodies(name: str = "mei") -> list[Any]:
    plain = {"schemas": [USER], "userName": name}
    return [
        "[" * 100_000,
        '{"a":' * 2_000 + "1" + "}" * 2_000,
        "nothing",
        "",
        "5",
        "[]",
        "null",
        f'{{"schemas": ["{USER}"], "userName": "{HALF}"}}',
        f'{{"schemas": ["{USER}"], "userName": "a\\u0000"}}',
        f'{{"schemas": ["{USER}"], "userName": {"9" * 5_000}}}',
        plain | {"userName": "x" * 100_000},
        plain | {"userName": ["x"]},
        plain | {"externalId": "x" * 100_000},
        plain | {"name": 5},
        plain | {"name": {"familyName": "x" * 100_000}},
        plain | {"emails": [{"value": "x" * 100_000}]},
        plain | {"emails": [5, None]},
        plain | {"emails": "x"},
        plain | {"active": "perhaps"},
        plain | {"schemas": [GROUP]},
        plain | {"id": {"a": 1}, "meta": 5},
        {"schemas": [GROUP], "displayName": "x" * 100_000},
        {"schemas": [GROUP], "displayName": "g", "members": [{"value": "x" * 100_000}]},
        {"schemas": [GROUP], "displayName": "g", "members": [{"value": 5}, None]},
    ]


PATHS = (
    "userName",
    "emails",
    f"emails[{FILTERS[0]}]",
    f'emails[type eq "work" and value eq "{HALF}"].display',
    f'emails[type eq "{HALF}"].value',
    f'members[value eq "{HALF}"].display',
    "emails[value eq " + '"x' * 1_000,
    "name.familyName",
    "x" * 100_000,
    "\x01",
)


def operations() -> list[Any]:
    values: tuple[Any, ...] = ("x" * 100_000, 5, None, [], {"a": [[{}]]}, 10**39)
    sent: list[Any] = [{"op": "replace", "path": path, "value": value} for path in PATHS for value in values]
    return [*sent, 5, None, {"op": "explode"}, {"op": "add", "value": 5}]


def test_half_of_a_character_in_a_path_is_refused(scim: Program) -> None:
    pk = scim.make_user("anna")
    change = {"op": "replace", "path": f'emails[type eq "{HALF}"].value', "value": "x@x.example"}
    answer = scim.patch(f"Users/{pk}", change)
    assert answer.status_code == 400, answer.content
    assert "cannot be kept" in answer.data["detail"]


def test_no_body_and_no_filter_is_an_error_of_ours(scim: Program) -> None:
    scim._client.raise_request_exception = False
    pk = scim.make_user("anna")
    group = scim.make_group("staff", pk)
    found: dict[str, int] = {}
    for path in ("Users", "Groups", ".search", "Users/.search", "Bulk", "Me"):
        for number, body in enumerate(bodies(f"mei{path}".replace("/", ""))):
            found[f"POST {path} {number}"] = scim.send("POST", path, body).status_code
    for path in (f"Users/{pk}", f"Groups/{group}"):
        for number, body in enumerate(bodies("anna")):
            found[f"PUT {path} {number}"] = scim.send("PUT", path, body).status_code
        for number, operation in enumerate(operations()):
            body = {"schemas": [PATCH], "Operations": [operation]}
            found[f"PATCH {path} {number}"] = scim.send("PATCH", path, body).status_code
    for number, each in enumerate(FILTERS):
        asked = f"filter={quote(each.encode('utf-8', 'surrogatepass'))}"
        found[f"GET {number}"] = scim.get(f"Users?{asked}").status_code
        search = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": each}
        found[f"SEARCH {number}"] = scim.send("POST", "Users/.search", search).status_code
    assert {what: status for what, status in found.items() if status >= 500 and status != 501} == {}


LOOK_ALIKES = {
    "full width": "\uff41\uff44\uff4d\uff49\uff4e",
    "Cyrillic a": "\u0430dmin",
    "capitals of Greek and Cyrillic": "\u0391DM\u0406\u039d",
    "without a dot": "adm\u0131n",
    "mathematical": "\U0001d41admin",
    "another case": "ADMIN",
}


def test_a_name_that_looks_like_an_administrator_s_is_refused_and_an_ordinary_one_of_any_script_taken(
    scim: Program,
) -> None:
    make_user("admin", is_superuser=True)
    make_user("jose")
    pk = scim.make_user("mei")
    for what, name in LOOK_ALIKES.items():
        answer = scim.send("POST", "Users", {"schemas": [USER], "userName": name})
        assert (answer.status_code, answer.data["scimType"]) == (409, "uniqueness"), what
        assert "“admin”" in answer.data["detail"]
        renamed = scim.patch(f"Users/{pk}", {"op": "replace", "path": "userName", "value": name})
        assert renamed.status_code == 409, what
        assert User.objects.filter(username="mei").exists()
    for name in ("иван.петров", "josé", "李梅", "zoë.müller", "Νίκος", "admin2"):
        scim.make_user(name)
        assert User.objects.filter(username=name).exists()
