"""Authentication: accounts, passwords, the company's sign-in, the second factor."""

from importlib.util import find_spec
from typing import Any

from copilot_site.config import ConfigError
from copilot_site.settings.base import config


def build_directory_settings() -> dict[str, Any] | None:
    """Return the company's directory of COPILOT_LDAP_*, as `authz.directory.ldap_client.LdapSettings` takes it; None without one."""
    if config.ldap_url is None:
        return None
    if find_spec("ldap") is None:
        raise ConfigError("COPILOT_LDAP_URL needs python-ldap: see docs/how-to/connect-a-directory.md.")
    password = config.ldap_bind_password
    given = {
        name.removeprefix("ldap_"): getattr(config, name)
        for name in type(config).model_fields
        if name.startswith("ldap_")
    }
    return given | {"bind_password": password.get_secret_value() if password else ""}


LDAP = build_directory_settings()
AUTHENTICATION_BACKENDS = [
    "authz.sign_in.backends.PeopleBackend",
    *(["authz.directory.backend.DirectoryBackend"] if LDAP else []),
    "authz.sign_in.backends.RightsBackend",
]
SILENCED_SYSTEM_CHECKS = ["guardian.W001"]  # its own backend knows neither denials nor ends: ours answers
ANONYMOUS_USER_NAME = None  # guardian: no row stands for nobody
GUARDIAN_MONKEY_PATCH_USER = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_ADAPTER = "authz.sign_in.password.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]  # what an account has; sign-up is closed
ACCOUNT_UNIQUE_EMAIL = False  # names are unique; departments share addresses
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900  # s
# a name: five wrong passwords in five minutes; an address: what an office behind one address mistypes in the morning
ACCOUNT_RATE_LIMITS = {"login_failed": "60/m/ip,5/300s/key"}
MFA_ADAPTER = "authz.sign_in.second_factor.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Knowledge Copilot"
MFA_TOTP_TOLERANCE = 1  # periods of 30 s that a clock may be off
MFA_ALLOW_UNVERIFIED_EMAIL = True  # addresses come from administrators and from the company's sign-in
STAFF_MFA = config.staff_mfa or ("required" if config.https else "optional")
SOCIALACCOUNT_ADAPTER = "authz.oidc.PeopleAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that ends at another site is what our form-action forbids
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_STORE_TOKENS = False


def build_sign_in_apps() -> list[dict[str, Any]]:
    """Return allauth's APPS: the sign-in of COPILOT_OIDC_*, if it is set; the admin may hold more."""
    if not (config.oidc_issuer and config.oidc_client_id and config.oidc_client_secret):
        return []
    options = {
        "server_url": config.oidc_issuer,
        "groups_claim": config.oidc_groups_claim,
        "link_by_email": config.oidc_link_by_email,
        "addresses_verified": config.oidc_addresses_verified,
    }
    secret = config.oidc_client_secret.get_secret_value()
    names = {"provider_id": "company", "name": "Company account"}
    return [{**names, "client_id": config.oidc_client_id, "secret": secret, "settings": options}]


SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": build_sign_in_apps(), "OAUTH_PKCE_ENABLED": True}}
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
