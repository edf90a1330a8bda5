"""The doctor's findings, grouped into the areas of an administrator. A new area is one more line of AREAS."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from django.conf import settings
from django.core.cache import cache
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agent.providers.configured import list_model_names
from copilot_site import doctor
from copilot_site.check_result import CheckResult
from copilot_site.sign_in_checks import check_company_directory, check_company_sign_ins

KEPT_S = 60  # seconds that a look is shown to everybody before the next one
CACHE_KEY = "admin-home:findings"

Check = Callable[[], CheckResult | Iterable[CheckResult]]


class Level(StrEnum):
    """WELL: nothing to do. CHECK: it works with less. FAILED: something does not work. OFF: it is not set up, and need not be."""

    WELL = "well"
    CHECK = "check"
    FAILED = "failed"
    OFF = "off"


@dataclass(frozen=True)
class HealthArea:
    """checks: of the doctor. route: of the page that manages it; "" where the server's operator does.

    figure: a number that says more than that all is well; "" for how many of the checks are well. is_set_up: whether there is
    something to look at.
    """

    key: str
    name: Promise
    checks: tuple[Check, ...]
    route: str = ""
    figure: Callable[[], str] = field(default=lambda: "")
    is_set_up: Callable[[], bool] = field(default=lambda: True)


@dataclass(frozen=True)
class Light:
    """The state of an area. figure: in numbers, the same in every language. findings: in the doctor's words, which are English."""

    name: Promise
    level: Level
    figure: str
    url: str
    findings: tuple[CheckResult, ...]

    @property
    def is_urgent(self) -> bool:
        return self.level in (Level.CHECK, Level.FAILED)

    @property
    def faults(self) -> list[CheckResult]:
        return [finding for finding in self.findings if not finding.ok]


def _format_free_disk() -> str:
    return f"{shutil.disk_usage(settings.HOME.root).free / 1e9:.1f} GB"


AREAS: tuple[HealthArea, ...] = (
    HealthArea("services", _("Database and queue"), (
        doctor.check_postgres, doctor.check_connections, doctor.check_pgvector, doctor.check_migrations, doctor.check_broker,
    )),
    HealthArea("disk", _("Free disk"), (doctor.check_state_folder,), figure=_format_free_disk),
    HealthArea("storage", _("File storage"), (doctor.check_file_storage,), "server-connections"),
    HealthArea("mail", _("Mail"), (doctor.check_mail_server,), "server-connections", is_set_up=lambda: settings.MAIL_IS_SET_UP),
    HealthArea("search", _("Search models"), (doctor.check_embedding_model, doctor.check_reranking, doctor.check_word_list),
         "server-connections"),
    HealthArea("index", _("Search index"), (doctor.check_search_index, doctor.check_readings), "ingestion"),
    HealthArea("language-models", _("Language models"), (doctor.check_language_models,), "language-models",
         is_set_up=lambda: bool(list_model_names())),
    HealthArea("data-sources", _("Data sources"), (doctor.check_data_sources,), "data-sources"),
    HealthArea("sign-in", _("Company sign-in"), (check_company_sign_ins, check_company_directory),
         "admin:socialaccount_socialapp_changelist"),
    HealthArea("audit", _("Signing key of the audit log"), (doctor.check_audit_key, doctor.check_audit_role),
         "admin:audit_checkpoint_changelist"),
)  # fmt: skip


def list_lights(*, again: bool = False) -> list[Light]:
    """Return the state of every area. Asking servers and models takes seconds, so it is cached for KEPT_S. again: look now."""
    kept = None if again else cache.get(CACHE_KEY)
    if kept is None:
        kept = {area.key: ([asdict(item) for item in _run_area_checks(area)], area.figure()) for area in AREAS}
        cache.set(CACHE_KEY, kept, KEPT_S)
    return [_build_light(area, *kept[area.key]) for area in AREAS if area.key in kept]


def _run_area_checks(area: HealthArea) -> Iterator[CheckResult]:
    for check in area.checks:
        found = check()
        yield from (found,) if isinstance(found, CheckResult) else found


def _build_light(area: HealthArea, found: Sequence[Mapping[str, object]], figure: str) -> Light:
    findings = tuple(CheckResult(**item) for item in found)  # type: ignore[arg-type]  # as `asdict` gave them
    well = sum(finding.ok for finding in findings)
    return Light(
        name=area.name,
        level=_compute_level(findings) if area.is_set_up() else Level.OFF,
        figure=figure or (f"{well} / {len(findings)}" if area.is_set_up() else "–"),
        url=reverse(area.route) if area.route else "",
        findings=findings,
    )


def _compute_level(findings: Iterable[CheckResult]) -> Level:
    faults = [finding for finding in findings if not finding.ok]
    if any(not finding.optional for finding in faults):
        return Level.FAILED
    return Level.CHECK if faults else Level.WELL
