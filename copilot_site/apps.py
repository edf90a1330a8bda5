"""copilot_site as a Django app: the commands `up` and `doctor`, and the Celery app that `shared_task` binds to."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """The wiring."""

    name = "copilot_site"
    verbose_name = "Copilot"

    def ready(self) -> None:
        """Load the Celery app, so that tasks called from anywhere know the broker, and our own system checks."""
        from copilot_site import celery, checks  # noqa: F401
