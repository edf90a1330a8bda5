"""`manage.py benchmark load`: measure many people at once on a web process of its own, beside one alone or the same without a flood."""

import asyncio
import os
import random
import socket
import subprocess
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from agent.conversations.sessions import create_session
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import give
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import CopilotError
from evals.documents.processor_time import system_cpu_s
from evals.load.crowd import Asked, Crowd, Flood, Met, Person
from evals.load.transfers import KINDS, UPLOADS, Transfers
from evals.report import Report, Row
from evals.titles import titles_in
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.selectors import base_named
from knowledge.services.documents import delete_document

READY_S = 120.0  # until the web process answers
WARM_UP_S = 3.0
QUESTIONS = 200  # different ones
QUESTIONS_ASKED = "questions"
DOWNLOADED = 20  # documents, in turn
# A line for each request would be measured, too.
QUIET_UVICORN = "import logging, uvicorn; logging.disable(logging.INFO); uvicorn.main()"


class LoadBenchmark:
    """Measures everything between a person and an answer: HTTP, seats, the queue, runs, the log and its readers."""

    help = (
        "Let people made for the run ask a web process of its own, think, and ask again. People, grants, tokens, conversations and "
        "uploads are deleted afterwards; the audit log keeps that they were there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="a knowledge base with passages")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees it")
        parser.add_argument("--people", type=int, default=100)
        parser.add_argument("--seconds", type=float, default=300.0, help="in which questions are begun")
        parser.add_argument(
            "--think", type=float, default=20.0, help="s on average from an answer to the next question"
        )
        parser.add_argument("--alone", type=float, default=10.0, help="s of one person alone, who is the peer")
        parser.add_argument("--uploads", type=int, default=0, help="people who upload a small file every 5 s beside")
        parser.add_argument(
            "--flood",
            type=int,
            default=0,
            help="requests that one more person always has open; the peer is then the same without",
        )
        parser.add_argument(
            "--flood-of",
            choices=[QUESTIONS_ASKED, *KINDS],
            default=QUESTIONS_ASKED,
            help="what these are; of other than questions everybody else makes one after each question",
        )
        parser.add_argument("--seed", type=int, default=1, help="chooses questions and pauses")

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = base_named(principal, options["kb"])
        chance = random.Random(options["seed"])  # noqa: S311 - repeats a run, hides nothing
        questions = [f"What is said about {title}?" for title in titles_in(principal, base, QUESTIONS, chance)]
        transfers = Transfers(*_places(principal, base), questions, seed=options["seed"])
        with (
            _people(base, 1 + options["people"]) as (one, *people),
            _removed(one, transfers.uploaded),
            _web_process() as (url, process),
        ):
            crowd = Crowd(url, questions, transfers, seed=options["seed"])
            asyncio.run(crowd.meet([one], seconds=WARM_UP_S, think_s=0.0))
            usual = {"seconds": options["seconds"], "think_s": options["think"], "uploaders": options["uploads"]}
            if options["flood"]:
                usual["beside"] = options["flood_of"] if options["flood_of"] in KINDS else ""
                peer, _nobody, peer_cpu_s = _measured(crowd, people, usual)
                flood = Flood(one, options["flood_of"], options["flood"])
                ours, flooded, cpu_s = _measured(crowd, people, usual | {"flood": flood})
            else:
                peer, flooded, peer_cpu_s = _measured(crowd, [one], {"seconds": options["alone"], "think_s": 0.0})
                ours, flooded, cpu_s = _measured(crowd, people, usual)
            memory_mb = process.memory_info().rss / 1e6
        return _report(options, ours, peer, flooded, cpu_s=cpu_s, peer_cpu_s=peer_cpu_s, memory_mb=memory_mb)


def _places(principal: Principal, base: KnowledgeBase) -> tuple[str, list[str]]:
    """Return the folder that uploads go to, and the documents that are downloaded."""
    folder = Folder.objects.visible_to(principal).get(knowledge_base=base, parent=None)
    documents = Document.objects.visible_to(principal).filter(knowledge_base=base).order_by("pk")
    return str(folder.pk), [str(number) for number in documents.values_list("pk", flat=True)[:DOWNLOADED]]


def _measured(crowd: Crowd, people: Sequence[Person], how: Mapping[str, Any]) -> tuple[Met, Met, float]:
    """Return the experience of the people and of the flood, and the processor time of all but this process, in s."""
    before = _others_cpu_s()
    met, flooded = asyncio.run(crowd.meet(people, **how))
    return met, flooded, _others_cpu_s() - before


def _others_cpu_s() -> float:
    own = psutil.Process().cpu_times()
    return system_cpu_s() - float(own.user + own.system)


def _report(
    options: Mapping[str, Any],
    ours: Met,
    peer: Met,
    flooded: Met,
    *,
    cpu_s: float,
    peer_cpu_s: float,
    memory_mb: float,
) -> Report:
    shown, true = ours.places()
    answered = len(ours.answered) + len(flooded.answered)
    rows = [
        Row("questions asked", "", float(len(ours.asked)), float(len(peer.asked))),
        Row("questions answered", "", float(len(ours.answered)), float(len(peer.answered))),
        Row("errors", "", float(ours.errors + flooded.errors), float(peer.errors)),
        Row("asked to come later", "", float(ours.later + flooded.later), float(peer.later)),
        Row("answers a second", "1/s", answered / ours.seconds, len(peer.answered) / peer.seconds),
        *_times(ours.answered, peer.answered),
        Row("processor an answer", "s", cpu_s / max(1, answered), peer_cpu_s / max(1, len(peer.answered))),
        Row("places told", "", float(shown)),
        Row("of these true within one", "", float(true)),
        *_transfers(options, ours, peer),
        Row("memory of the web process", "MB", memory_mb),
    ]
    facts = {name: options[name] for name in ("people", "seconds", "think", "uploads", "flood", "flood_of")}
    facts |= {"answers of the flood": len(flooded.answered) + len(flooded.moved_s)} if options["flood"] else {}
    alone = "one person alone, who asks again at once, in the same web process"
    return Report(
        peer="the same people without the flood" if options["flood"] else alone,
        rows=rows,
        facts=facts | dict(sorted((ours.statuses + flooded.statuses).items())),
    )


def _transfers(options: Mapping[str, Any], ours: Met, peer: Met) -> Iterator[Row]:
    kind = options["flood_of"] if options["flood"] else UPLOADS
    if kind not in KINDS:
        return
    yield Row(f"{kind} answered", "", float(len(ours.moved_s)), float(len(peer.moved_s)))
    for share in (50, 95, 100):
        label = f"{kind}, p{share}" if share < 100 else f"{kind}, slowest"
        mine, theirs = (float(np.percentile(met.moved_s or [0.0], share)) * 1e3 for met in (ours, peer))
        yield Row(label, "ms", mine, theirs)


def _times(ours: Sequence[Asked], peer: Sequence[Asked]) -> Iterator[Row]:
    for name, of in (("first event", "first_at"), ("answer", "ended_at")):
        for share in (50, 95, 100):
            label = f"{name}, p{share}" if share < 100 else f"{name}, slowest"
            yield Row(label, "ms", _percentile(ours, of, share), _percentile(peer, of, share))


def _percentile(asked: Sequence[Asked], of: str, share: int) -> float:
    return float(np.percentile([(getattr(item, of) - item.at) * 1e3 for item in asked] or [0.0], share))


@contextmanager
def _people(base: KnowledgeBase, count: int) -> Iterator[list[Person]]:
    users = [User.objects.create(username=f"benchmark-{uuid4()}") for _number in range(count)]
    try:
        yield [_person(base, user) for user in users]
    finally:
        for user in users:
            user.delete()


def _person(base: KnowledgeBase, user: User) -> Person:
    give(None, [Right.VIEW, Right.DOWNLOAD, Right.ADD, Right.CHANGE], base, to=user)
    principal = Principal.of(user)
    scopes = [TokenScope.SEARCH, TokenScope.CHAT, TokenScope.INGEST]
    _token, secret = issue_token(principal, name="benchmark", days=1, scopes=scopes)
    return Person(principal, secret, str(create_session(principal).pk))


@contextmanager
def _removed(by: Person, documents: Sequence[str]) -> Iterator[None]:
    """Delete the documents that are in the list at the end of the block."""
    try:
        yield
    finally:
        for number in documents:
            delete_document(by.principal, document_id=UUID(number))


@contextmanager
def _web_process() -> Iterator[tuple[str, psutil.Process]]:
    """Run a web process on the same database and Valkey, as `manage.py up` does; give its address once it can answer questions."""
    found = connection.settings_dict
    address = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-c", QUIET_UVICORN, "copilot_site.asgi:application", "--app-dir", str(settings.BASE_DIR)]
    words += ["--port", str(port), "--no-access-log", "--lifespan", "off", "--log-level", "warning"]
    words += ["--timeout-keep-alive", "75"]
    env = os.environ | {"DATABASE_URL": address}
    with subprocess.Popen(words, env=env, cwd=settings.BASE_DIR) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/readyz", process)
            yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
        finally:
            process.terminate()


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    ends = time.monotonic() + READY_S
    while time.monotonic() < ends and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - http://127.0.0.1
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise CopilotError(f"The web process of the benchmark does not answer at {url}; its lines above say why.")
