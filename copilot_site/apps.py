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
        from copilot_site.lib.http.client_address import bind_client_address
        from copilot_site.lib.logs import record_duration
        from copilot_site.lib.slow_statements import watch_connection
        from copilot_site.lib.traces import send_request_span

        bind_extra_request_metadata.connect(bind_client_address, dispatch_uid="copilot.address")
        connection_created.connect(watch_connection, dispatch_uid="copilot.slow_statements")
        for end in (bind_extra_request_finished_metadata, bind_extra_request_failed_metadata):
            end.connect(record_duration, dispatch_uid="copilot.duration")
            end.connect(send_request_span, dispatch_uid="copilot.traces")
