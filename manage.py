#!/usr/bin/env python
"""Django's command line.

Commands that need the database find this checkout's running services, or start them for their own duration.
"""

import gc
import os
import signal
import sys
from contextlib import ExitStack, nullcontext, suppress

# They need no database.
WITHOUT_SERVICES = {
    "help", "version", "--help", "-h", "--version", "prepare_model", "check", "collectstatic", "findstatic",
    "makemessages", "compilemessages", "spectacular", "startapp", "diffsettings",
}  # fmt: skip


def main() -> None:
    """Run one management command."""
    # To load the product makes a million objects that stay: to look for garbage at every 700 of them takes a sixth of the start.
    gc.set_threshold(20_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
    from django.db import DatabaseError
    from psycopg.errors import DiskFull
    from redis import RedisError

    from copilot_site.embedded.process import ServiceFailed
    from copilot_site.lib.errors import NO_SPACE

    try:
        with ExitStack() as stack:
            if sys.argv[1:2] and sys.argv[1] not in WITHOUT_SERVICES:
                with suppress(ServiceFailed) if sys.argv[1] == "doctor" else nullcontext():  # doctor itself says why
                    _services(stack)
            from django.core.management import execute_from_command_line

            try:
                execute_from_command_line(sys.argv)
            except (DatabaseError, RedisError) as error:
                if isinstance(error.__cause__, DiskFull):
                    sys.exit("The disk of the database is full: make room and repeat the command.")
                _name_what_is_missing()
                raise
            except UnicodeEncodeError:
                _name_what_is_no_text()
                raise
    except ServiceFailed as error:
        sys.exit(str(error))
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        sys.exit("The disk is full: make room and repeat the command.")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; what was finished stays.\n")
        sys.exit(130)


def _name_what_is_missing() -> None:
    """End with one sentence where a service does not answer, or the database is not what this version needs."""
    from copilot_site import doctor

    for found in (doctor.check_postgres(), doctor.check_migrations(), doctor.check_broker()):
        if not found.ok:
            sys.exit(f"{found.name}: {found.detail.rstrip('.')}. {found.mend} `manage.py doctor` looks at everything.")


def _name_what_is_no_text() -> None:
    """End with one sentence where a word of the command line is not UTF-8: a terminal set to another encoding sends such."""
    for word in sys.argv:
        if any("\udc80" <= char <= "\udcff" for char in word):
            sys.exit(f"{word.encode(errors='replace').decode()!r} is not UTF-8: set the terminal to UTF-8.")


def _services(stack: ExitStack) -> None:
    """Have the embedded services while the command runs; set DATABASE_URL, REDIS_URL and the role for it."""
    from copilot_site.config import load_config
    from copilot_site.embedded import services
    from copilot_site.home import Home

    config = load_config()
    if config.database_url and config.redis_url:
        return
    home = Home(config.home)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the services are let go on `kill`, too
    found = stack.enter_context(
        services.hold_services(home, want_postgres=config.database_url is None, want_valkey=config.redis_url is None)
    )
    os.environ.update(services.build_environment(home, found))
    load_config.cache_clear()


if __name__ == "__main__":
    main()
