"""An address is stored, links an account and stands for somebody in a chat platform only where it is verified."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User

from agent.chat_platforms.answering import find_accounts_by_mail
from authz.sign_in.addresses import find_verified_address, fold_address
from knowledge.sources.rules import find_usernames_by_email
from tests.factories import make_user
from tests.integration.sign_in.browser import signed_in_by_company
from tests.oidc_issuer import Issuer

pytestmark = pytest.mark.django_db
OWN, THEIRS = "mei@evenkeel.example", "chen@evenkeel.example"
KELVIN = THEIRS.replace("k", "\u212a")  # its small letter is the k


def options_of(settings: Any) -> dict[str, Any]:
    app: dict[str, Any] = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]
    options: dict[str, Any] = app["settings"]
    return options


ATTACKS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {  # ID token, userinfo, address that is stored
    "the word stands in the other document": ({"email_verified": True}, {"email": THEIRS}, ""),
    "the word is of another address": ({"email": OWN, "email_verified": True}, {"email": THEIRS}, OWN),
    "the ID token says it is not": ({"email": THEIRS, "email_verified": False}, {"email_verified": True}, ""),
    "nobody says it": ({"email": THEIRS}, {}, ""),
    "a text is no word": ({"email": THEIRS, "email_verified": "true"}, {}, ""),
    "it is the same to a database": ({"email": KELVIN, "email_verified": True}, {}, KELVIN),
}


@pytest.mark.parametrize("what", ATTACKS)
def test_an_address_that_is_not_verified_is_nobody_s(issuer: Issuer, settings: Any, what: str) -> None:
    options_of(settings)["link_by_email"] = True
    chen = make_user("chen", email=THEIRS)
    issuer.id_token_extra, issuer.userinfo_extra, stored = ATTACKS[what]
    signed_in_by_company()
    mei = User.objects.get(username="mei")
    assert SocialAccount.objects.get().user == mei
    assert mei.email == stored
    assert set(EmailAddress.objects.values_list("email", flat=True)) == ({stored.lower()} if stored else set())
    assert find_accounts_by_mail({"ou_chen": THEIRS}) == {"ou_chen": chen}, "the address is hers alone still"


@pytest.mark.parametrize("document", ["id_token_extra", "userinfo_extra"])
def test_a_verified_address_links_stores_and_stands_for_its_person(
    issuer: Issuer, settings: Any, document: str
) -> None:
    setattr(issuer, document, {"email": OWN, "email_verified": True})
    signed_in_by_company()
    mei = User.objects.get()
    assert mei.email == OWN
    assert find_accounts_by_mail({"ou_mei": OWN.title()}) == {"ou_mei": mei}
    options_of(settings)["link_by_email"] = True
    chen = make_user("chen", email=THEIRS)
    issuer.claims["sub"] = "u-2"
    setattr(issuer, document, {"email": THEIRS.upper(), "email_verified": True})
    signed_in_by_company()
    assert SocialAccount.objects.get(uid="u-2").user == chen


@pytest.mark.parametrize(
    ("trusted", "claims", "stored"),
    [
        (False, {"email": OWN}, ""),
        (True, {"email": OWN}, OWN),
        (True, {"email": OWN, "email_verified": False}, ""),
        (True, {"email": "no address"}, ""),
    ],
)
def test_an_issuer_that_says_nothing_is_believed_where_that_is_switched_on(
    issuer: Issuer, settings: Any, trusted: bool, claims: dict[str, Any], stored: str
) -> None:
    options_of(settings)["addresses_verified"] = trusted
    issuer.claims |= claims
    signed_in_by_company()
    assert User.objects.get().email == stored


def test_a_name_is_not_made_of_an_address_that_is_not_verified(issuer: Issuer) -> None:
    issuer.claims = {"sub": "u-1", "email": THEIRS}
    signed_in_by_company()
    assert User.objects.get().username == "u-1"


def test_a_word_of_trust_holds_for_no_document_where_one_of_them_speaks() -> None:
    documents: list[dict[str, Any]] = [{"email": OWN}, {"email": OWN, "email_verified": False}]
    assert find_verified_address(documents, trusts_issuer=True) == ""
    assert find_verified_address([{"email": f"{'a' * 300}@x.example"}], trusts_issuer=True) == ""
    assert find_verified_address([{"email": {"a": 1}}, {"email": OWN}], trusts_issuer=True) == OWN


def test_letters_of_other_scripts_stay_what_they_are() -> None:
    assert fold_address(" Chen@X.Example ") == "chen@x.example"
    assert fold_address("\u212aelly@x.example") != "kelly@x.example"
    assert fold_address("m\u0131ke@x.example") != fold_address("MIKE@x.example")
    mike = make_user("mike", email="MIKE@x.example")
    assert find_accounts_by_mail({"ou_1": "m\u0131ke@x.example", "ou_2": "mike@X.example"}) == {"ou_2": mike}
    kelly = make_user("kelly", email="kelly@x.example")
    assert find_usernames_by_email(["\u212aelly@x.example"]) == frozenset()
    assert find_usernames_by_email(["Kelly@x.example"]) == {kelly.username}
