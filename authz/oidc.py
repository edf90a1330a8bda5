"""Sign-in through the company's identity provider (OpenID Connect): accounts, links and groups.

django-allauth walks the code flow (state, PKCE, discovery). The ID token's signature is checked here, always: allauth leaves that
to TLS. Source: OpenID Connect Core 1.0, 3.1.3.7 and 5.3.2.
"""

import re
from functools import partial
from typing import Any, NoReturn

import jwt
import structlog
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from requests import RequestException
from requests.exceptions import InvalidJSONError

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.directory.accounts import list_kept_accounts
from authz.models import Directory
from authz.people.names import NAME_LENGTH, find_similar_name
from authz.principal import Principal
from authz.sign_in.addresses import find_verified_address, fold_address
from authz.sign_in.claims import apply_claims, read_claim_values
from authz.sign_in.client_secrets import read_stored_secret
from authz.sign_in.password import render_refusal
from copilot_site.lib.outgoing.addresses import build_service_policy, parse_entries, parse_url
from copilot_site.lib.outgoing.http import HttpSession, ObjectAnswer
from copilot_site.lib.text.json_input import remove_forbidden_characters, require_shallow

log = structlog.get_logger(__name__)

ALGORITHMS = [
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
]  # no shared secrets
LEEWAY_S = 60  # clock skew allowed between hosts
GROUPS_CLAIM = "groups"
TIMEOUT_S = 5  # of a request to an issuer
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")  # keys of its configuration
SHAPELESS = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    ImproperlyConfigured,
)  # raised by allauth for malformed answers
NAMES = {"first_name": 150, "last_name": 150}  # characters of Django's columns


class UnknownKey(jwt.PyJWTError):
    """A token was signed with a key that its issuer does not publish."""


def verify_token(token: str, published: dict[str, Any], *, audience: str, issuer: str) -> dict[str, Any]:
    """Return a token's claims. published: the issuer's keys. Raises jwt.PyJWTError where a check fails."""
    kid = jwt.get_unverified_header(token).get("kid")
    keys = jwt.PyJWKSet.from_dict(published).keys
    key = next((key for key in keys if key.key_id == kid), keys[0] if len(keys) == 1 and not kid else None)
    if key is None:
        raise UnknownKey(f"the issuer has no key {kid!r}")
    claims: dict[str, Any] = jwt.decode(
        token,
        key,
        algorithms=ALGORITHMS,
        audience=audience,
        issuer=issuer,
        leeway=LEEWAY_S,
        options={"require": ["exp", "iat", "iss", "aud", "sub"]},
    )
    return claims


class IssuerAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    """One issuer. Raises OAuth2Error for anything malformed; allauth answers with our page."""

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        try:
            login: SocialLogin = super().complete_login(request, app, token, **kwargs)
        except SHAPELESS as problem:
            raise OAuth2Error(f"what the issuer says has another form: {problem}") from problem
        found = login.account.extra_data
        if "id_token" not in found:
            raise OAuth2Error("the answer has no id_token")
        if "userinfo" in found and found["userinfo"].get("sub") != found["id_token"]["sub"]:
            raise OAuth2Error("userinfo speaks of somebody else than the id_token")
        documents = [found[name] for name in ("id_token", "userinfo") if name in found]
        address = find_verified_address(documents, trusts_issuer=app.settings.get("addresses_verified") is True)
        login.user.email = address
        login.email_addresses = [EmailAddress(email=address, verified=True, primary=True)] if address else []
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        try:
            payload = verify_token(id_token, self.keys(), audience=app.client_id, issuer=self.openid_config["issuer"])
        except (jwt.PyJWTError, RecursionError) as problem:
            raise OAuth2Error(f"the id_token cannot be used: {problem}") from problem
        claims: dict[str, Any] = remove_forbidden_characters(require_shallow(payload))
        return claims

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the issuer's configuration. Raises RequestException for a malformed document."""
        found: dict[str, Any] = super().openid_config
        if lacking := [name for name in NEEDED if not isinstance(found.get(name), str)]:
            raise InvalidJSONError(f"the configuration lacks {', '.join(lacking)}")
        return found

    def keys(self) -> dict[str, Any]:
        """Return the keys that the issuer publishes. Raises RequestException."""
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


class PeopleAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Signs in the person that the company's sign-in names, and sets their groups from its claims."""

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Fill in the user as allauth does, from text claims only, cut to the columns' lengths."""
        user: User = super().populate_user(request, sociallogin, {n: v for n, v in data.items() if isinstance(v, str)})
        for name, most in NAMES.items():
            setattr(user, name, getattr(user, name)[:most])
        return user

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def get_requests_session(self) -> HttpSession:
        """Return the session for every question to an issuer: to allowed addresses, among them that of COPILOT_OIDC_ISSUER."""
        provider: dict[str, Any] = settings.SOCIALACCOUNT_PROVIDERS.get("openid_connect", {})
        apps: list[dict[str, Any]] = provider.get("APPS", [])
        ours = parse_entries(",".join(parse_url(app["settings"]["server_url"])[0] for app in apps))
        session = HttpSession(
            build_service_policy(is_verified=True).with_named(*ours), plain=build_service_policy().with_named(*ours)
        )
        session.answers = ObjectAnswer
        session.request = partial(session.request, timeout=TIMEOUT_S)  # type: ignore[method-assign]
        return session

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """List apps as allauth does, with the secrets stored for their issuers."""
        apps: list[SocialApp] = super().list_apps(request, provider=provider, client_id=client_id)
        for app in apps:
            if app.pk:
                app.secret = read_stored_secret(app)
        return apps

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link or refuse before anything is stored: an unlinked account with that name is not handed over."""
        if not sociallogin.is_existing:
            self._link_newcomer(request, sociallogin)
        if sociallogin.is_existing:
            self._apply_groups_claim(sociallogin)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: None = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        record_action(Principal.of(user), Action.USER_CREATED, user, detail={"sign_in": sociallogin.account.provider})
        self._apply_groups_claim(sociallogin)
        return user

    def _link_newcomer(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link a newcomer to the account that SCIM made for them, or to the one with their verified address where that
        is switched on; else leave them new.
        """
        claims = merge_claims(sociallogin)
        theirs = _find_provisioned_account(request, sociallogin)
        if theirs is None and sociallogin.provider.app.settings.get("link_by_email"):
            theirs = _find_unlinked_person(sociallogin.user.email)
        if theirs is not None:
            sociallogin.connect(request, theirs)
            record_action(
                Principal.of(theirs), Action.PROVIDER_LINKED, theirs, detail={"sign_in": sociallogin.account.provider}
            )
            return
        name = choose_username(claims | {"email": sociallogin.user.email})
        other = find_similar_name(name)
        if other.casefold() == name.casefold():
            _refuse_sign_in(
                request,
                _(
                    "The account “%(name)s” already exists here but is not linked to your company sign-in. Ask an administrator."
                )
                % {"name": name},
            )
        if other:
            sentence = _("Your name there, “%(name)s”, looks like the account “%(other)s” here. Ask an administrator.")
            _refuse_sign_in(request, sentence % {"name": name, "other": other})
        sociallogin.user.username = name

    def _apply_groups_claim(self, sociallogin: SocialLogin) -> None:
        claim = sociallogin.provider.app.settings.get("groups_claim", GROUPS_CLAIM)
        values = read_claim_values(merge_claims(sociallogin).get(claim))
        apply_claims(sociallogin.user, provider=sociallogin.account.provider, values=values)


@require_GET
def begin(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Redirect to the company's sign-in."""
    return _run_adapter_view(OAuth2LoginView, request, provider_id)


@require_GET
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Return from the company's sign-in."""
    return _run_adapter_view(OAuth2CallbackView, request, provider_id)


def _run_adapter_view(kind: Any, request: HttpRequest, provider_id: str) -> HttpResponseBase:
    try:
        answer: HttpResponseBase = kind.adapter_view(IssuerAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    except (RequestException, *SHAPELESS):  # SHAPELESS: allauth parses the configuration before we check it
        log.warning("sign_in.issuer_unreachable", provider=provider_id, exc_info=True)
        sentence = _("The company sign-in is not responding. Try again in a moment, or use your password.")
        return render_refusal(request, sentence, status=503)
    return answer


def list_sign_ins(request: HttpRequest) -> list[SocialApp]:
    """Return the configured company sign-ins, by name: from COPILOT_OIDC_* and from the admin."""
    return sorted(get_adapter().list_apps(request, provider="openid_connect"), key=lambda app: app.name)


def merge_claims(sociallogin: SocialLogin) -> dict[str, Any]:
    """Return all claims about the person; userinfo wins over the ID token, which it completes."""
    found = sociallogin.account.extra_data
    return {**found.get("id_token", {}), **found.get("userinfo", {})}


def choose_username(claims: dict[str, Any]) -> str:
    """Return a sign-in name: preferred name, else verified address, else subject; characters not allowed become `_`."""
    text = next(str(claims[name]) for name in ("preferred_username", "email", "sub") if claims.get(name))
    return re.sub(r"[^\w.@+-]", "_", User.normalize_username(text))[:NAME_LENGTH]


def _find_provisioned_account(request: HttpRequest, sociallogin: SocialLogin) -> User | None:
    """Return the account that SCIM made under the same id as the sign-in's; Entra ID calls it `oid`.

    An id is unique only within its issuer: with several sign-ins it is ambiguous.
    """
    if len(list_sign_ins(request)) != 1:
        return None
    signed = sociallogin.account.extra_data.get("id_token", {})
    ids = {str(signed[name]) for name in ("sub", "oid") if signed.get(name)}
    rows = list_kept_accounts(Directory.SCIM).filter(
        external_id__in=ids, user__is_active=True, user__socialaccount=None
    )[:2]
    return rows[0].user if len(rows) == 1 else None


def _find_unlinked_person(address: str) -> User | None:
    """Return the one person with this verified address, but no superuser: those are linked by hand."""
    if not address:
        return None
    people = User.objects.filter(
        email__iexact=address, is_active=True, is_superuser=False, service_account=None, socialaccount=None
    )[:2]
    return people[0] if len(people) == 1 and fold_address(people[0].email) == fold_address(address) else None


def _refuse_sign_in(request: HttpRequest, sentence: str) -> NoReturn:
    record_action(None, Action.SIGN_IN_FAILED, outcome=Outcome.DENY, reason=sentence)
    raise ImmediateHttpResponse(render_refusal(request, sentence))
