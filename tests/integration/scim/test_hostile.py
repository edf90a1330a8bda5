"""What an identity provider may send by mistake or by malice: refused in the words of SCIM, never an error of ours."""

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User

from tests.factories import make_user
from tests.integration.scim.program import USER, Program

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


def test_half_of_a_character_in_a_path_is_refused(scim: Program) -> None:
    pk = scim.make_user("anna")
    change = {"op": "replace", "path": f'emails[type eq "{HALF}"].value', "value": "x@x.example"}
    answer = scim.patch(f"Users/{pk}", change)
    assert answer.status_code == 400, answer.content
    assert "cannot be kept" in answer.data["detail"]


def test_no_filter_is_an_error_of_ours(scim: Program) -> None:
    scim._client.raise_request_exception = False
    scim.make_user("anna")
    found = {}
    for item in FILTERS:
        asked = quote(item.encode("utf-8", "surrogatepass"))
        search = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": item}
        found[item] = (
            scim.get(f"Users?filter={asked}").status_code,
            scim.send("POST", "Users/.search", search).status_code,
        )
    assert {item[:40]: statuses for item, statuses in found.items() if max(statuses) >= 500} == {}


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
