"""`manage.py benchmark agent`: runs alone and many at once against a model that costs nothing, beside a bare loop of its calls."""

import json
import os
import random
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.db import connection

from agent.model_settings import LanguageModel
from agent.models import Session
from authz.checks import get_visible
from authz.principal import Principal
from copilot_site.config import BASE_DIR
from copilot_site.lib.benchmarks import Report, Row
from copilot_site.lib.errors import CopilotError, InvalidInput
from knowledge.models import Chunk, KnowledgeBase

# Runs a module of this package, which cannot be imported before Django is ready.
RUN = "import django, runpy, sys; django.setup(); del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__')"


class RunsBenchmark:
    """The whole run with its log and a reader, against a loop that makes the same calls of the model and does nothing else."""

    help = (
        "Ask questions made of a knowledge base's own titles, one after the other and many at once, with a scripted model in a process "
        "of its own. The conversations are deleted afterwards; the audit log keeps that they were asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="a knowledge base with passages")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees it")
        parser.add_argument("--at-once", type=int, default=200, help="runs at the same time")
        parser.add_argument("--alone", type=int, default=20, help="runs one after the other")
        parser.add_argument("--pause-ms", type=float, default=20.0, help="of the model before each delta")
        parser.add_argument("--seed", type=int, default=1, help="chooses questions")

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = get_visible(KnowledgeBase, principal, name=options["kb"])
        questions = _questions(principal, base, options["alone"] + options["at_once"], options["seed"])
        with _scripted_model(options["pause_ms"] / 1e3) as (name, url):
            sessions = [Session.objects.create(user_id=principal.user_id).pk for _question in questions]
            try:
                found = _measured(
                    {
                        "user_id": principal.user_id,
                        "knowledge_base_id": str(base.pk),
                        "model": name,
                        "model_url": url,
                        "alone": options["alone"],
                        "asked": [[str(pk), text] for pk, text in zip(sessions, questions, strict=True)],
                    }
                )
            finally:
                Session.objects.filter(pk__in=sessions).delete()
        return _report(found, options)


def _report(found: Mapping[str, Any], options: Mapping[str, Any]) -> Report:
    alone, many, bare = found["alone"], found["many"], found["bare"]
    at_once = options["at_once"]
    rows = [
        Row("events lost", "", float(alone["lost"] + many["lost"])),
        Row(f"first event at {at_once}, p50", "ms", _percentile(many["first_ms"], 50)),
        Row(f"first event at {at_once}, p95", "ms", _percentile(many["first_ms"], 95)),
        Row(
            "whole run alone, p50", "ms", _percentile(alone["whole_ms"], 50), _percentile(bare["alone"]["whole_ms"], 50)
        ),
        Row(
            "our own overhead alone, p50",
            "ms",
            _percentile(alone["whole_ms"], 50) - _percentile(bare["alone"]["whole_ms"], 50),
        ),
        Row("processor a run, alone", "ms", alone["cpu_ms"], bare["alone"]["cpu_ms"]),
        Row(f"processor a run, at {at_once}", "ms", many["cpu_ms"], bare["many"]["cpu_ms"]),
        Row("longest run / median run", "", max(many["whole_ms"]) / _percentile(many["whole_ms"], 50)),
        Row("memory before", "MB", found["memory_mb"][0]),
        Row(f"memory after {at_once} at once", "MB", found["memory_mb"][1]),
    ]
    ends = {f"ended as {name}": count for name, count in sorted(found["ends"].items())}
    return Report(
        peer="a loop that makes the same calls of the same model with the openai client, and nothing else",
        rows=rows,
        facts={"runs alone": options["alone"], "pause of the model, ms": options["pause_ms"]} | ends,
    )


def _percentile(values: Sequence[float], share: int) -> float:
    return float(np.percentile(values, share))


def _questions(principal: Principal, base: KnowledgeBase, count: int, seed: int) -> list[str]:
    rows = Chunk.objects.visible_to(principal).filter(knowledge_base=base).order_by("id")
    texts = sorted(
        {" ".join([title, *path[-1:]]) for title, path in rows.values_list("document__title", "heading_path")}
    )
    if not texts:
        raise InvalidInput(f"“{base.name}” has no passages that you may see; import documents first.")
    chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing
    return [f"What is said about {chance.choice(texts)}?" for _ in range(count)]


@contextmanager
def _scripted_model(pause_s: float) -> Iterator[tuple[str, str]]:
    """A model in a process of its own, known to the product as long as the block runs: its name and address."""
    words = [sys.executable, "-c", RUN, "agent.benchmarks.model_server", str(pause_s)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=BASE_DIR) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = process.stdout.readline().strip()
        row = LanguageModel.objects.create(name=f"benchmark {time.time_ns()}", base_url=url, model="scripted")
        try:
            yield row.name, url
        finally:
            row.delete()
            process.stdin.close()


def _measured(task: Mapping[str, Any]) -> dict[str, Any]:
    """What a process like the web server's measured: with its pool of connections, and nothing else in it."""
    found = connection.settings_dict
    address = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    done = subprocess.run(
        [sys.executable, "-c", RUN, "agent.benchmarks.process"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env=os.environ | {"COPILOT_DB_POOL": "10", "DATABASE_URL": address},
        cwd=BASE_DIR,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise CopilotError(f"The measuring process failed: {reason}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured
