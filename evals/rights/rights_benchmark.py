"""`manage.py benchmark rights`: what the filter of rights costs a search, and what it must not cost: passages that are there."""

import json
import random
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection, transaction
from pgvector import HalfVector

from authz.folders import folder_ids_with
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.progress import progress
from evals.report import Report, Row
from evals.rights.rights_world import DIMENSIONS, Collection, make_audience, make_member, make_tree, share_out
from knowledge.retrieval.candidates import Candidate, Question, find_candidates
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.services.indexes import build_in_transaction

TOP, DEPTH = 10, 100
RUNS = 3  # of a statement for each question
SHARES = (0.001, 0.01, 0.1, 1.0)
AUDIENCES = (10, 100, 499)  # others who read along: a group of a chat platform
_NEAREST = f"""
SELECT i.chunk_id FROM knowledge_chunkindex i WHERE i.live AND i.space_id = %s AND i.folder_id IN ({{folders}})
ORDER BY (i.vector::halfvec({DIMENSIONS}) <#> %s::halfvec({DIMENSIONS})) + 0 LIMIT 10
"""  # noqa: S608  # made of constants; `+ 0` keeps it an exact pass


class RightsBenchmark:
    """Every number beside the same statement that knows no rights and is handed the folders."""

    help = (
        "Make synthetic passages, folders and people in a transaction that is rolled back, and measure the filter of rights: "
        "its cost, the visible folders of a person in many groups, and whether the indexes still find what is there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--passages", type=int, default=50_000)
        parser.add_argument("--folders", type=int, default=20_000)
        parser.add_argument("--groups", type=int, default=50)
        parser.add_argument("--questions", type=int, default=50)
        parser.add_argument("--seed", type=int, default=1)

    def run(self, options: Mapping[str, Any]) -> Report:
        rows: list[Row] = []
        facts: dict[str, Any] = {name: options[name] for name in ("passages", "folders", "groups", "questions")}
        with transaction.atomic():
            rows += _visible_folders(options, facts)
            collection = Collection(options["passages"], options["seed"])
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # or no index could be built on the rows just written
            build_in_transaction(collection.space.pk)
            _analyse()
            for share in SHARES:
                rows += _search(collection, share, options["questions"])
            transaction.set_rollback(True)
        return Report(
            peer="the same statement without rights, handed the folders; an exact scan for recall",
            rows=rows,
            facts=facts,
        )


def _visible_folders(options: Mapping[str, Any], facts: dict[str, Any]) -> list[Row]:
    """How long the server takes to find the folders of a person in many groups, planning apart."""
    _base, folders = make_tree(options["folders"])
    user, groups = make_member(options["groups"])
    share_out(folders, groups, random.Random(options["seed"]))  # noqa: S311 - repeats a run, hides nothing
    _analyse()
    ids = folder_ids_with(Principal.of(user), Right.VIEW)
    seen = len(_rows(ids.sql, ids.params))
    facts["visible folders"] = seen
    ours = _explained(ids.sql, ids.params, options["questions"])
    peer = _explained("SELECT id FROM knowledge_folder LIMIT %s", [seen], options["questions"])
    found = [
        Row(f"visible folders, {name}", "ms", of_ours, of_peer)
        for (name, of_ours), of_peer in zip(ours.items(), peer.values(), strict=True)
    ]
    for people in AUDIENCES:
        shared = folder_ids_with(Principal.of(user).before(make_audience(people, groups)), Right.VIEW)
        facts[f"visible folders before {people}"] = len(_rows(shared.sql, shared.params))
        costs = _explained(shared.sql, shared.params, options["questions"])
        found += [Row(f"visible folders before {people}, {name}", "ms", cost) for name, cost in costs.items()]
    return found


def _search(collection: Collection, share: float, questions: int) -> list[Row]:
    """Cost of the filter in an exact pass, recall of the indexed statement, and how many passages came at least."""
    who = collection.reader(share)
    visible = make_plan(who, Scope()).visible
    ids = folder_ids_with(who, Right.VIEW)
    handed = [row[0] for row in _rows(ids.sql, ids.params)]
    ours, peer, recalls, fewest = [], [], [], DEPTH
    for _question in progress(range(questions), desc=f"sees {share:.1%}", unit="question"):
        vector, term = collection.question()
        near = HalfVector(vector).to_text()
        space = collection.space.pk
        ours.append(_execution(_NEAREST.format(folders=ids.sql), [space, *ids.params, near]))
        peer.append(_execution(_NEAREST.format(folders="SELECT unnest(%s::uuid[])"), [space, handed, near]))
        exact, indexed = (_first(collection, who, Question(vector, {term: 1.0}), use) for use in (False, True))
        recalls.append(len(exact & indexed) / max(len(exact), 1))
        fewest = min(fewest, len(indexed))
    costs = np.array(ours) - np.array(peer)
    name = f"sees {share:.1%}"
    return [
        Row(f"{name}, exact pass p95", "ms", float(np.percentile(ours, 95)), float(np.percentile(peer, 95))),
        Row(f"{name}, cost of the filter p50", "ms", float(np.percentile(costs, 50))),
        Row(f"{name}, cost of the filter p95", "ms", float(np.percentile(costs, 95))),
        Row(f"{name}, recall@{TOP} of the indexes", "share", float(np.mean(recalls)), 1.0),
        Row(f"{name}, fewest of {min(TOP, visible)}", "passages", fewest, min(TOP, visible)),
    ]


def _first(collection: Collection, who: Principal, question: Question, use_indexes: bool) -> set[object]:
    """The ten nearest passages that this person may see."""
    term = next(iter(question.weights))
    found = find_candidates(
        who, question, Scope(), space_id=collection.space.pk, depth=DEPTH, use_indexes=use_indexes, rare_terms=[term]
    )
    nearest: Sequence[Candidate] = sorted(found, key=lambda row: -row.dense)[:TOP]
    return {row.chunk_id for row in nearest}


def _explained(statement: str, params: Sequence[Any], times: int) -> dict[str, float]:
    runs = [_explain(statement, params) for _run in range(times)]
    execution = [run["Execution Time"] for run in runs]
    return {
        "p50": float(np.percentile(execution, 50)),
        "p95": float(np.percentile(execution, 95)),
        "planning p50": float(np.percentile([run["Planning Time"] for run in runs], 50)),
    }


def _execution(statement: str, params: Sequence[Any]) -> float:
    """Planning and execution on the server, ms; the best of RUNS, because what other processes add is not the statement's."""
    runs = (_explain(statement, params) for _run in range(RUNS))
    return min(float(run["Execution Time"] + run["Planning Time"]) for run in runs)


def _explain(statement: str, params: Sequence[Any]) -> dict[str, float]:
    ((found,),) = _rows(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", params)
    run: dict[str, float] = (json.loads(found) if isinstance(found, str) else found)[0]
    return run


def _rows(statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def _analyse() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE knowledge_folder, knowledge_folderlink, knowledge_chunkindex, authz_foldergroupgrant, authz_denial"
        )
