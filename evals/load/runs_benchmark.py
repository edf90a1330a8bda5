"""`manage.py benchmark agent`: runs alone, many in one instant and many all the time, against a model that costs nothing, beside a
bare loop of its calls.
"""

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection

from agent.models import LanguageModel, Session
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.web_process import POOL
from evals.load.questions import questions_about
from evals.report import Report, Row
from knowledge.selectors import base_named

WARM_UP = 3  # runs: the models and the pages are in memory
MODEL_CALLS, MODEL_FRAMES = 4, 17  # of a run, as `evals.load.model_server` answers
# Runs a module of this package, which cannot be imported before Django is ready.
RUN = "import django, runpy, sys; django.setup(); del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__')"
# One person asks for all of them here, and none is to wait for another.
UNBOUNDED = {
    "COPILOT_MODEL_RUNS_AT_ONCE": "2000",
    "COPILOT_RUNS_AT_ONCE": "64",
    "COPILOT_RUNS_PER_PERSON": "2000",
    "COPILOT_RUNS_WAITING": "10000",
}


class RunsBenchmark:
    """The whole run with its log and a reader, against a loop that makes the same calls of the model and does nothing else."""

    help = (
        "Ask questions made of a knowledge base's own titles, one after the other, many in one instant, and many all the time, with a "
        "scripted model in a process of its own. The conversations are deleted afterwards; the audit log keeps that they were asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="a knowledge base with passages")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees it")
        parser.add_argument("--at-once", type=int, default=200, help="runs at the same time")
        parser.add_argument("--alone", type=int, default=20, help="runs one after the other")
        parser.add_argument(
            "--pause-ms", type=float, default=20.0, help="of the model before each delta, alone and in the burst"
        )
        parser.add_argument(
            "--steady",
            type=int,
            default=400,
            help="runs that are measured while always --at-once are in flight, with a model as slow as large ones are; 0 for none",
        )
        parser.add_argument(
            "--steady-first-ms", type=float, default=5_000.0, help="of that model, before its first delta"
        )
        parser.add_argument("--steady-pause-ms", type=float, default=150.0, help="of that model, before each delta")
        parser.add_argument("--memory", type=int, default=0, help="runs whose memory is watched; 5000 take minutes")
        parser.add_argument("--seed", type=int, default=1, help="chooses questions")

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = base_named(principal, options["kb"])
        places, steady = options["at_once"], options["steady"]
        counts = {
            "warm": WARM_UP,
            "alone": options["alone"],
            "burst": places,
            "steady": places + steady if steady else 0,
            "memory": options["memory"],
        }
        questions = questions_about(principal, base, sum(counts.values()), options["seed"])
        sessions = [Session(user_id=principal.user_id) for _question in questions]
        asked = iter([[str(session.pk), text] for session, text in zip(sessions, questions, strict=True)])
        first_s, pause_s = options["steady_first_ms"] / 1e3, options["steady_pause_ms"] / 1e3
        task = {
            "user_id": principal.user_id,
            "knowledge_base_id": str(base.pk),
            "asked": {part: list(islice(asked, count)) for part, count in counts.items()},
            "slow_run_s": MODEL_CALLS * first_s + MODEL_FRAMES * pause_s,
        }
        with _scripted_model(0.0, options["pause_ms"] / 1e3) as quick, _scripted_model(first_s, pause_s) as slow:
            Session.objects.bulk_create(sessions)
            try:
                found = _measured(task | {"quick": quick, "slow": slow})
            finally:
                Session.objects.filter(pk__in=[session.pk for session in sessions]).delete()
        return _report(found, options, slow_run_s=task["slow_run_s"])


def _report(found: Mapping[str, Any], options: Mapping[str, Any], *, slow_run_s: float) -> Report:
    burst, steady = found["burst"], found.get("steady")
    lost = sum(part["lost"] for part in (found["alone"], burst, steady) if part)
    rows = [
        Row("events lost", "", float(lost)),
        *_alone(found),
        *_many(f"burst of {options['at_once']} in one instant", burst, found["bare"]["burst"]),
        *(_many(f"steady, always {options['at_once']} in flight", steady) if steady else ()),
        Row("memory before", "MB", found["memory_mb"][0]),
        Row("memory after the burst", "MB", found["memory_mb"][1]),
        *(Row(f"memory after {runs:,} more runs", "MB", size) for runs, size in found["memory"]),
    ]
    facts = {"runs alone": options["alone"], "pause of the model before each delta, ms": options["pause_ms"]}
    if steady:
        facts |= {
            "steady: runs measured": len(steady["first_ms"]),
            "steady: pauses of the model before the first and each delta, ms": (
                options["steady_first_ms"], options["steady_pause_ms"],
            ),
            "steady: time of the model in a run, about, s": round(slow_run_s, 1),
        }  # fmt: skip
    ends = {f"ended as {name}": count for name, count in sorted(found["ends"].items())}
    return Report(
        peer="a loop that makes the same calls of the same model with the openai client, and nothing else",
        rows=rows,
        facts=facts | ends,
    )


def _alone(found: Mapping[str, Any]) -> Iterator[Row]:
    ours, bare = found["alone"], found["bare"]["alone"]
    whole, calls = _percentile(ours["whole_ms"], 50), _percentile(bare["whole_ms"], 50)
    yield Row("alone: first event, p50", "ms", _percentile(ours["first_ms"], 50))
    yield Row("alone: whole run, p50", "ms", whole, calls)
    yield Row("alone: our own overhead, p50", "ms", whole - calls)
    yield Row("alone: processor a run", "ms", ours["cpu_ms"], bare["cpu_ms"])
    yield Row("alone: processor until a question is stored, p50", "ms", _percentile(ours["taken_ms"], 50))


def _many(name: str, ours: Mapping[str, Any], bare: Mapping[str, Any] | None = None) -> Iterator[Row]:
    for share in (50, 95):
        yield Row(f"{name}: first event, p{share}", "ms", _percentile(ours["first_ms"], share))
    for label, share in (("quickest", 0), ("p50", 50), ("p95", 95), ("slowest", 100)):
        peer = _percentile(bare["whole_ms"], share) if bare else None
        yield Row(f"{name}: whole run, {label}", "ms", _percentile(ours["whole_ms"], share), peer)
    yield Row(f"{name}: processor a run", "ms", ours["cpu_ms"], bare["cpu_ms"] if bare else None)


def _percentile(values: Sequence[float], share: int) -> float:
    return float(np.percentile(values, share))


@contextmanager
def _scripted_model(first_s: float, pause_s: float) -> Iterator[dict[str, str]]:
    """A model in a process of its own, known to the product as long as the block runs: its name and url.

    first_s, pause_s: before an answer's first delta, and before each.
    """
    words = [sys.executable, "-c", RUN, "evals.load.model_server", str(first_s), str(pause_s)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        row = LanguageModel.objects.create(name=f"benchmark {time.time_ns()}", base_url=url, model="scripted")
        try:
            yield {"name": row.name, "url": url}
        finally:
            row.delete()
            process.stdin.close()


def _measured(task: Mapping[str, Any]) -> dict[str, Any]:
    """What a process like the web server's measured: with its pool of connections, and nothing else in it."""
    found = connection.settings_dict
    address = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    done = subprocess.run(
        [sys.executable, "-c", RUN, "evals.load.process"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env=os.environ | UNBOUNDED | {"COPILOT_DB_POOL": str(POOL), "DATABASE_URL": address},
        cwd=settings.BASE_DIR,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise CopilotError(f"The measuring process failed: {reason}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured
