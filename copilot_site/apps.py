"""copilot_site as a Django app: the commands `up` and `doctor`, and the Celery app that `shared_task` binds to."""

import django_stubs_ext
from django.apps import AppConfig

django_stubs_ext.monkeypatch()  # ModelAdmin[Row] at run time: before any models are loaded; beat, which loads none, goes without


class SiteConfig(AppConfig):
    """The wiring."""

    name = "copilot_site"
    verbose_name = "Copilot"

    def ready(self) -> None:
        """Load the Celery app, so that tasks called from anywhere know the broker, our system checks, and what logs add to requests
        and statements.
        """
        from django.db.backends.signals import connection_created
        from django_structlog.signals import (
            bind_extra_request_failed_metadata,
            bind_extra_request_finished_metadata,
            bind_extra_request_metadata,
        )

        from copilot_site import celery, checks  # noqa: F401
        from copilot_site.lib.http.client_address import bind_address
        from copilot_site.lib.logs import note_duration
        from copilot_site.lib.slow_statements import watch
        from copilot_site.lib.traces import send_request

        bind_extra_request_metadata.connect(bind_address, dispatch_uid="copilot.address")
        connection_created.connect(watch, dispatch_uid="copilot.slow_statements")
        for end in (bind_extra_request_finished_metadata, bind_extra_request_failed_metadata):
            end.connect(note_duration, dispatch_uid="copilot.duration")
            end.connect(send_request, dispatch_uid="copilot.traces")
