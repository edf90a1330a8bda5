from importlib import import_module

import structlog
from celery import shared_task
from django.conf import settings

from copilot_site.lib.errors import CopilotError

log = structlog.get_logger(__name__)


@shared_task(name="authz.sync_directory", ignore_result=True)
def sync_directory() -> None:
    """Disable accounts missing in the directory, and update groups; sent by beat where a directory is configured."""
    if not settings.LDAP:
        return
    from authz.directory.ldap_client import LdapSettings
    from authz.directory.ldap_people import sync_accounts

    given = LdapSettings.read()
    try:
        done = sync_accounts(given) if given else None
    except CopilotError as problem:
        log.warning("directory.not_synced", why=str(problem))
        return
    if done:
        log.info("directory.synced", **vars(done))


@shared_task(name="authz.clear_sessions", ignore_result=True)
def clear_sessions() -> None:
    """Delete the sign-ins that have ended; nothing else removes their rows."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
