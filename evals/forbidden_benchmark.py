"""`manage.py benchmark forbidden`: measure whether a clock can tell a forbidden row from a missing one."""

import gc
import logging
import math
import random
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from agent.models import Message, MessageRole, Session
from authz.permissions import Right
from authz.rights.grants import grant_rights
from copilot_site.lib.errors import Conflict
from copilot_site.lib.progress import show_progress_bar
from evals.report import Report, Row, percentile
from evals.rights_world import make_member, make_tree
from knowledge.models import Chunk, Document, DocumentVersion, Folder

CONFIDENCE = 0.95  # that every interval holds its median; shared out among the routes (Bonferroni)
TARGETS = 50  # rows of each kind that are asked for in turn
WARM_UP = 5  # pairs that are not counted
FOLDERS = 200  # in each of the two bases
GROUPS = 5  # of the outsider, each with a grant elsewhere
Target = Mapping[str, UUID]  # the ids that an address can name, by kind
World = tuple[
    User, list[Target], list[Target]
]  # an outsider, rows that are hidden from them, and rows that they may see
ROUTES: Mapping[str, Callable[[Target], str]] = {
    "document": lambda row: reverse("document", args=[row["document"]]),
    "document (API)": lambda row: reverse("api:document", args=[row["document"]]),
    "passages (API)": lambda row: reverse("api:document-chunks", args=[row["document"]]),
    "download": lambda row: reverse("document-download", args=[row["document"]]),
    "page image": lambda row: reverse("page-image", args=[row["document"], 1, 1]),
    "folder": lambda row: reverse("folder", args=[row["folder"]]),
    "folder (API)": lambda row: reverse("api:folder", args=[row["folder"]]),
    "citation": lambda row: reverse("source", args=[row["base"], row["chunk"]]),
    "conversation": lambda row: reverse("conversation", args=[row["session"]]),
    "messages (API)": lambda row: reverse("api:messages", args=[row["session"]]),
    "run": lambda row: reverse("run", args=[row["session"], row["message"]]),
}
CONTROL = "control: a document that may be seen (API)"


@dataclass
class Pairs:
    """Milliseconds of requests that alternate; each place is one pair."""

    ours: list[float] = field(default_factory=list)
    missing: list[float] = field(default_factory=list)

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """Return the median of the differences in µs, and an interval that holds it for any distribution (order statistics)."""
        differences = np.sort((np.array(self.ours) - np.array(self.missing)) * 1e3)
        count = len(differences)
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(count) / 2
        low, high = max(math.floor(count / 2 - reach), 0), min(math.ceil(count / 2 + reach), count - 1)
        return float(np.median(differences)), float(differences[low]), float(differences[high])


class ForbiddenBenchmark:
    """Measures whole requests in one process, of a person who has rights elsewhere."""

    help = (
        "Ask for rows that a person may not see and for rows that are not there, by turns, at the main addresses, and tell "
        "whether the times differ. Everything is made in a transaction that is rolled back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pairs", type=int, default=400, help="of requests for each address")

    def run(self, options: Mapping[str, Any]) -> Report:
        with transaction.atomic(), _quiet():
            world = _make_world(TARGETS)
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
            found = _measured(world, options["pairs"])
            transaction.set_rollback(True)
        return _report(found, options["pairs"])


def _measured(world: World, pairs: int) -> dict[str, Pairs]:
    chance = random.Random(1)  # noqa: S311 - who comes first, the same in each run
    outsider, forbidden, visible = world
    client = signed_in(outsider)
    found = {name: Pairs() for name in (*ROUTES, CONTROL)}
    for number in show_progress_bar(range(-WARM_UP, pairs), desc="by turns", unit="pair"):
        for name, times in found.items():
            rows = visible if name == CONTROL else forbidden
            address = ROUTES.get(name, ROUTES["document (API)"])
            pair = [(rows[number % TARGETS], True), (defaultdict(uuid4), False)]  # the second: ids that no row has
            chance.shuffle(pair)
            for row, is_ours in pair:
                took = _took(client, address(row), 200 if name == CONTROL and is_ours else 404)
                if number >= 0:
                    (times.ours if is_ours else times.missing).append(took)
    return found


def signed_in(user: User) -> Client:
    """Return a signed-in client, at an address that the settings let in."""
    hosts = [host for host in settings.ALLOWED_HOSTS if "*" not in host]
    client = Client(SERVER_NAME=hosts[0].lstrip(".") if hosts else "localhost")
    client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return client


def _took(client: Client, address: str, status: int) -> float:
    """Return the milliseconds until the whole answer is there. Raises Conflict for an answer with another status."""
    began = time.perf_counter_ns()
    answer = client.get(address, secure=True)
    took = (time.perf_counter_ns() - began) / 1e6
    if answer.status_code != status:
        raise Conflict(f"{address} answered {answer.status_code}, not {status}: nothing was measured.")
    return took


def _report(found: Mapping[str, Pairs], pairs: int) -> Report:
    confidence = 1 - (1 - CONFIDENCE) / len(ROUTES)
    rows: list[Row] = []
    apart: list[str] = []
    for name, times in found.items():
        middle, low, high = times.interval(confidence)
        rows += [
            Row(f"{name}, p50", "ms", percentile(times.ours, 50), percentile(times.missing, 50)),
            Row(f"{name}, difference, median", "µs", middle),
            Row(f"{name}, difference, not below", "µs", low),
            Row(f"{name}, difference, not above", "µs", high),
        ]
        if not low <= 0 <= high:
            apart.append(name)
    names = [name for name in apart if name != CONTROL]
    return Report(
        peer="the same address with an id that no row has",
        rows=rows,
        facts={
            "pairs": pairs,
            "confidence": CONFIDENCE,
            "told apart by a clock": ", ".join(names) or "none",
            "control told apart": "yes" if CONTROL in apart else "no",
        },
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Log no refusals, and collect no garbage in the middle of a request, until the block ends."""
    logging.disable(logging.CRITICAL)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        logging.disable(logging.NOTSET)


def _make_world(count: int) -> World:
    """Make `count` targets of each kind; the outsider is in groups that may view another base."""
    owner = User.objects.create(username=f"benchmark-owner-{uuid4()}")
    outsider, groups = make_member(GROUPS)
    _base, closed = make_tree(FOLDERS)
    _other, opened = make_tree(FOLDERS)
    for group in groups:
        grant_rights(None, [Right.VIEW], opened[0], to=group)
    forbidden, visible = (
        [_target(folders[1 + number % (FOLDERS - 1)], user, number) for number in range(count)]
        for folders, user in ((closed, owner), (opened, outsider))
    )
    return outsider, forbidden, visible


def _target(folder: Folder, owner: User, number: int) -> Target:
    base_id, version_id = folder.knowledge_base_id, uuid4()
    # each row is written once: a second version of it would cost whoever looks for it time, until a vacuum
    document = Document.unscoped.create(
        knowledge_base_id=base_id, folder=folder, access=folder, filename=f"{number}.md", title=f"Benchmark {number}",
        current_version_id=version_id,
    )  # fmt: skip
    version = DocumentVersion.unscoped.create(id=version_id, document=document, number=1, size_bytes=1)
    chunk = Chunk.unscoped.create(
        knowledge_base_id=base_id, document=document, version=version, position=0, text="Text.", kind="text",
        start=0, end=5, length_tokens=1,
    )  # fmt: skip
    session = Session.objects.create(user=owner)
    message = Message.objects.create(session=session, role=MessageRole.ASSISTANT, content="Text.")
    return {
        "base": base_id, "folder": folder.pk, "document": document.pk, "chunk": chunk.id, "session": session.pk,
        "message": message.pk,
    }  # fmt: skip
