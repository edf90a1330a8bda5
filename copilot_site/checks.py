"""System checks that Django lacks: settings that are fine on one machine and wrong on several."""

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.files.storage import InvalidStorageError, storages
from django.db import DatabaseError

from audit.chain.db_owner import find_role_powers
from copilot_site.config import load_config
from copilot_site.lib.traces import is_tracing_enabled
from copilot_site.startup_checks import LOCAL, find_dangers, is_exposed


@register(Tags.security)
def nothing_dangerous_is_exposed(**_: Any) -> list[CheckMessage]:
    """Report dangers that stop the web server: they stop `migrate`, too, which a deployment runs first."""
    return [Error(sentence, id="copilot_site.E003") for sentence in find_dangers(load_config())]


@register(Tags.database)
def nobody_signs_in_with_a_public_password(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Report accounts with the demo's passwords, which are in the repository."""
    if not databases or not is_exposed(load_config()):
        return []
    from demo.logins import list_public_accounts

    try:
        names = list_public_accounts()
    except DatabaseError:  # no tables yet
        return []
    if not names:
        return []
    message = f"{', '.join(names)} can sign in with the demo's password, which everybody can read, and others reach this site."
    hint = "Delete these accounts or give them other passwords: `manage.py changepassword NAME`."
    return [Error(message, hint=hint, id="copilot_site.E004")]


@register(Tags.database, deploy=True)
def nobody_who_records_can_change_the_log(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Report a database role that could switch off the log's triggers: the tables' owner or a superuser."""
    if not databases:
        return []
    try:
        role, power = find_role_powers()
    except DatabaseError as error:
        message = f"The database does not say who may change the audit log: {str(error).splitlines()[0]}"
        return [checks.Warning(message, id="copilot_site.W004")]
    if not power:
        return []
    hint = "Give the processes a role of their own: docs/how-to/audit.md, “The role of the database”."
    message = f"The role {role} {power}, so an intruder in a process could change the audit log."
    return [checks.Warning(message, hint=hint, id="copilot_site.W004")]


@register(Tags.security, deploy=True)
def secret_key_is_shared(**_: Any) -> list[CheckMessage]:
    """Report a key made by this machine: other web hosts would refuse its sessions."""
    config = load_config()
    if config.secret_key or not config.database_url:
        return []
    return [
        Error(
            "COPILOT_SECRET_KEY is not set, so every host makes its own and refuses the sessions of the others.",
            hint="Set COPILOT_SECRET_KEY to the same 50 or more random characters on every host.",
            id="copilot_site.E001",
        )
    ]


@register(Tags.security, deploy=True)
def staff_have_a_second_factor(**_: Any) -> list[CheckMessage]:
    """Report staff without a second factor: a manager's stolen password would give rights to anybody."""
    if settings.STAFF_MFA == "required" or not load_config().https:
        return []
    return [
        checks.Warning(
            "COPILOT_STAFF_MFA=optional: the administration opens with a password alone.",
            hint="Unset it, or set COPILOT_STAFF_MFA=required.",
            id="copilot_site.W001",
        )
    ]


@register()
def runs_can_be_reported(**_: Any) -> list[CheckMessage]:
    """Report a configured collector without the library to send to it."""
    if not settings.OTLP_ENDPOINT or is_tracing_enabled():
        return []
    return [
        checks.Warning(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the extra `telemetry` is not installed: nothing is reported.",
            hint="pip install --require-hashes --no-deps -r requirements/telemetry.txt, or unset it.",
            id="copilot_site.W003",
        )
    ]


@register()
def files_have_a_place(**_: Any) -> list[CheckMessage]:
    """Report a configured storage whose library is not installed: no file could be uploaded or read."""
    try:
        storages["default"]
    except InvalidStorageError as error:
        hint = "pip install -r requirements/s3.txt, or unset COPILOT_S3_BUCKET."
        return [Error(f"COPILOT_S3_BUCKET cannot be used: {error}", hint=hint, id="copilot_site.E002")]
    return []


@register(Tags.security, deploy=True)
def the_site_has_a_name(**_: Any) -> list[CheckMessage]:
    """Report missing host names: local ones make a site unreachable, and `*` lets a forged Host into its addresses."""
    if not load_config().https:
        return []
    if "*" in settings.ALLOWED_HOSTS:
        message = "COPILOT_ALLOWED_HOSTS contains *: whatever host a client claims is believed."
    elif set(settings.ALLOWED_HOSTS) <= LOCAL:
        message = "COPILOT_ALLOWED_HOSTS names this machine only: whoever comes by the site's own name is refused."
    else:
        return []
    return [
        checks.Warning(
            message, hint="Set it to the names people type, such as knowledge.example.com.", id="copilot_site.W002"
        )
    ]
