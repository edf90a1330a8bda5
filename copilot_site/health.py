"""Is this process alive, and can it work? For load balancers, orchestrators and `manage.py up`."""

from django.conf import settings
from django.http import HttpRequest, JsonResponse

from copilot_site import doctor

NOT_CACHED = {"Cache-Control": "no-store"}
PROBES = {
    "database": doctor.postgres,
    "pgvector": doctor.pgvector,
    "migrations": doctor.migrations,
    "broker": doctor.broker,
}


def healthz(_request: HttpRequest) -> JsonResponse:
    """The process lives. Asks nobody else, so that a slow database does not get the web server killed."""
    return JsonResponse({"status": "ok"}, headers=NOT_CACHED)


def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when this process can answer questions, else 503 with the names of what fails; `doctor` tells the reasons."""
    failing = [name for name, probe in PROBES.items() if not probe().ok]
    if settings.EMBEDDER == "bundled" and not any(settings.HOME.models.glob("*/manifest.json")):
        failing.append("model")  # the checksum is the doctor's: it reads 100 MB
    body = {"status": "failing" if failing else "ok", "failing": failing}
    return JsonResponse(body, status=503 if failing else 200, headers=NOT_CACHED)
