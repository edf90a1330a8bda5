"""`manage.py seed_demo`: the demo company, in an empty database or where an earlier one was interrupted."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from copilot_site.lib.progress import show_progress_bar
from demo.seed import seed_company
from demo.unfinished import is_unfinished


class Command(BaseCommand):
    help = "Fill an empty database with the demo company; leaves any other as it is."

    def handle(self, **options: Any) -> None:
        if settings.IS_EXPOSED:
            raise CommandError(
                "The demo's passwords are public, and others reach this site: seed it where COPILOT_HOST and COPILOT_ALLOWED_HOSTS "
                "name this machine only."
            )
        if not is_unfinished():
            self.stdout.write("There are people or knowledge bases already: nothing was added.")
            return
        seed_company(lambda waiting: show_progress_bar(waiting, desc="read and index", unit="document"))
