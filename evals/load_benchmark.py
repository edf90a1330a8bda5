"""`manage.py benchmark load`: measure many people at once on web processes of its own, beside one alone or the same without a flood."""

import asyncio
import os
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

import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from agent.conversations.sessions import create_session
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import CopilotError
from evals.crowd import KINDS, QUESTIONS, UPLOADS, Crowd, Met, Person
from evals.report import Report, Row, percentile_rows, system_cpu_s
from evals.search_benchmark import titles_in
from knowledge.models import Folder, KnowledgeBase
from knowledge.selectors import find_base_by_name
from knowledge.services.documents import delete_document

READY_S = 120.0  # until the web process answers
WARM_UP_S = 3.0
ALONE_S = 10.0  # of one person alone, who is the peer
DIFFERENT = 200  # questions
Measured = tuple[Met, Met, float]  # of the people, of the flood; the processor time of all but this process, in s


class LoadBenchmark:
    """Measures everything between a person and an answer: HTTP, seats, the queue, runs, the log and its readers."""

    help = (
        "Let people made for the run ask WEB_CONCURRENCY web processes of its own, think, and ask again. People, grants, tokens, "
        "conversations and uploads are deleted afterwards; the audit log keeps that they were there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="a knowledge base with passages")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees it")
        parser.add_argument("--people", type=int, default=100)
        parser.add_argument("--seconds", type=float, default=300.0, help="in which questions are begun")
        parser.add_argument(
            "--think", type=float, default=20.0, help="s on average from an answer to the next question"
        )
        parser.add_argument("--uploads", type=int, default=0, help="people who upload a small file every 5 s beside")
        parser.add_argument(
            "--flood",
            type=int,
            default=0,
            help="requests that one more person always has open; the peer is then the same without",
        )
        parser.add_argument(
            "--flood-of",
            choices=KINDS,
            default=QUESTIONS,
            help="what these are; of other than questions everybody else makes one after each question",
        )

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = find_base_by_name(principal, options["kb"])
        questions = [f"What is said about {title}?" for title in titles_in(principal, base, DIFFERENT)]
        folder = Folder.objects.visible_to(principal).get(knowledge_base=base, parent=None)
        with _people(base, 1 + options["people"]) as (one, *people), _web_processes() as url:
            crowd = Crowd(url, questions, str(folder.pk))
            try:
                asyncio.run(crowd.meet([one], seconds=WARM_UP_S, think_s=0.0))
                usual = {"seconds": options["seconds"], "think_s": options["think"], "uploaders": options["uploads"]}
                if options["flood"]:
                    usual["beside"] = options["flood_of"] if options["flood_of"] != QUESTIONS else ""
                    peer = _measured(crowd, people, usual)
                    usual["flood"] = (one, options["flood_of"], options["flood"])
                else:
                    peer = _measured(crowd, [one], {"seconds": ALONE_S, "think_s": 0.0})
                ours = _measured(crowd, people, usual)
            finally:
                for number in crowd.uploaded:
                    delete_document(one.principal, document_id=UUID(number))
        return _report(options, ours, peer)


def _measured(crowd: Crowd, people: Sequence[Person], how: Mapping[str, Any]) -> Measured:
    before = _others_cpu_s()
    met, flooded = asyncio.run(crowd.meet(people, **how))
    return met, flooded, _others_cpu_s() - before


def _others_cpu_s() -> float:
    own = psutil.Process().cpu_times()
    return system_cpu_s() - float(own.user + own.system)


def _report(options: Mapping[str, Any], measured: Measured, beside: Measured) -> Report:
    (ours, flooded, cpu_s), (peer, _nobody, peer_cpu_s) = measured, beside
    answered = len(ours.done()) + len(flooded.done())
    rows = [
        Row("questions asked", "", float(len(ours.asked)), float(len(peer.asked))),
        Row("questions answered", "", float(len(ours.done())), float(len(peer.done()))),
        Row("errors", "", float(ours.errors + flooded.errors), float(peer.errors)),
        Row("asked to come later", "", float(ours.later + flooded.later), float(peer.later)),
        Row("answers a second", "1/s", answered / ours.seconds, len(peer.done()) / peer.seconds),
        *percentile_rows(
            "first event", *([(one.first_at - one.at) * 1e3 for one in met.done()] for met in (ours, peer))
        ),
        *percentile_rows("answer", *([(one.ended_at - one.at) * 1e3 for one in met.done()] for met in (ours, peer))),
        Row("processor an answer", "s", cpu_s / max(1, answered), peer_cpu_s / max(1, len(peer.done()))),
    ]
    kind = options["flood_of"] if options["flood"] else UPLOADS
    if kind != QUESTIONS:
        mine, theirs = ([(one.ended_at - one.at) * 1e3 for one in met.done(kind)] for met in (ours, peer))
        rows += [
            Row(f"{kind} answered", "", float(len(mine)), float(len(theirs))),
            *percentile_rows(kind, mine, theirs),
        ]
    facts = {name: options[name] for name in ("people", "seconds", "think", "uploads", "flood", "flood_of")}
    facts |= {"web processes": settings.WEB_PROCESSES}
    facts |= {"answers of the flood": len(flooded.done(options["flood_of"]))} if options["flood"] else {}
    alone = "one person alone, who asks again at once"
    return Report(
        peer="the same people without the flood" if options["flood"] else alone,
        rows=rows,
        facts=facts | dict(sorted((ours.statuses + flooded.statuses).items())),
    )


@contextmanager
def _people(base: KnowledgeBase, count: int) -> Iterator[list[Person]]:
    users = [User.objects.create(username=f"benchmark-{uuid4()}") for _number in range(count)]
    try:
        yield [_person(base, user) for user in users]
    finally:
        for user in users:
            user.delete()


def _person(base: KnowledgeBase, user: User) -> Person:
    grant_rights(None, [Right.VIEW, Right.ADD, Right.CHANGE], base, to=user)
    principal = Principal.of(user)
    scopes = [TokenScope.SEARCH, TokenScope.CHAT, TokenScope.INGEST]
    _token, secret = issue_token(principal, name="benchmark", days=1, scopes=scopes)
    return Person(principal, secret, str(create_session(principal).pk))


@contextmanager
def _web_processes() -> Iterator[str]:
    """Run as many web processes as `manage.py up` does, on the same database and Valkey; give their address once one is ready."""
    found = connection.settings_dict
    address = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "uvicorn", "copilot_site.asgi:application", "--app-dir", str(settings.BASE_DIR)]
    words += ["--port", str(port), "--no-access-log", "--lifespan", "off", "--log-level", "warning"]
    words += ["--timeout-keep-alive", "75", "--workers", str(settings.WEB_PROCESSES)]
    env = os.environ | {"DATABASE_URL": address}
    with subprocess.Popen(words, env=env, cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/readyz", process)
            yield f"http://127.0.0.1:{port}"
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
