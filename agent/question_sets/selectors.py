"""Sets and runs for pages: figures of a run, and a comparison of two runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Avg, Count, Q, QuerySet, Sum
from django.utils import timezone

from agent.models import Case, CaseResult, QuestionSet, SetRun
from agent.models.question_sets import CLAIMED_FOR


@dataclass(frozen=True)
class Figures:
    """Figures of one run. right, leaks, failed, cost: of the finished questions.

    mean_s: seconds per question; None for none.
    """

    run: SetRun
    total: int
    done: int
    right: int
    leaks: int
    cost: Decimal
    mean_s: float | None

    @property
    def is_open(self) -> bool:
        return self.run.ended_at is None and self.run.stopped_at is None


@dataclass(frozen=True)
class Compared:
    """One question in two runs; None where it is not in one of them, or not asked yet."""

    case: Case
    first: CaseResult | None
    second: CaseResult | None

    @property
    def question(self) -> str:
        """Return the question's words in the later of both runs; before any run, its current words."""
        return next((row.question for row in (self.second, self.first) if row), self.case.question)

    @property
    def question_before(self) -> str:
        """Return the question's words in the first run, where they were different; else ""."""
        return self.first.question if self.first and self.first.question != self.question else ""

    @property
    def is_changed(self) -> bool:
        """Return whether the result of the second run differs: right or wrong, its ending, or its leaks."""
        if self.first is None or self.second is None:
            return False
        return _build_outcome(self.first) != _build_outcome(self.second)


def list_question_sets() -> QuerySet[QuestionSet]:
    return QuestionSet.objects.annotate(questions=Count("cases", distinct=True), times=Count("runs", distinct=True))


def claim_stalled_runs() -> list[UUID]:
    """Return the open runs without an active worker, because one died or a task was lost.

    Each at most once per CLAIMED_FOR.
    """
    since = timezone.now() - CLAIMED_FOR
    at_work = CaseResult.objects.filter(done_at=None, claimed_at__gte=since).values("run")
    lost = SetRun.objects.filter(ended_at=None, stopped_at=None, queued_at__lt=since).exclude(pk__in=at_work)
    return [run_id for run_id in lost.values_list("pk", flat=True) if _claim_run(run_id, since)]


def _claim_run(run_id: UUID, since: datetime) -> bool:
    """Return whether this process has taken it up."""
    return bool(SetRun.objects.filter(pk=run_id, queued_at__lt=since).update(queued_at=timezone.now()))


def compute_run_figures(runs: Iterable[SetRun]) -> list[Figures]:
    """Return the figures in the order of the runs, with one query for all."""
    rows = list(runs)
    done = Q(done_at__isnull=False)
    counted = {
        row["run_id"]: row
        for row in CaseResult.objects.filter(run__in=rows)
        .order_by()
        .values("run_id")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=done),
            right=Count("pk", filter=done & Q(fault="", leaks=0)),
            leaked=Sum("leaks"),
            spent=Sum("cost"),
            mean=Avg("duration_ms", filter=done),
        )
    }
    return [_build_figures(run, counted.get(run.pk)) for run in rows]


def compare_runs(first: SetRun, second: SetRun | None) -> list[Compared]:
    """Return every question of either run, the changed ones first."""
    found: dict[UUID, list[CaseResult | None]] = {}
    cases: dict[UUID, Case] = {}
    for place, run in enumerate((first, second)):
        rows = run.results.select_related("case__person") if run else ()
        for row in rows:
            cases[row.case_id] = row.case
            found.setdefault(row.case_id, [None, None])[place] = row if row.done_at else None
    comparisons = [Compared(cases[case_id], *rows) for case_id, rows in found.items()]
    return sorted(comparisons, key=lambda item: not item.is_changed)


def _build_outcome(row: CaseResult) -> tuple[str, str, int]:
    return row.fault, row.stop_reason, row.leaks


def _build_figures(run: SetRun, row: Mapping[str, object] | None) -> Figures:
    given: Mapping[str, object] = row or {}
    mean = given.get("mean")
    return Figures(
        run=run,
        total=int(str(given.get("total", 0))),
        done=int(str(given.get("done", 0))),
        right=int(str(given.get("right", 0))),
        leaks=int(str(given.get("leaked") or 0)),
        cost=Decimal(str(given.get("spent") or 0)),
        mean_s=float(str(mean)) / 1000 if mean is not None else None,
    )
