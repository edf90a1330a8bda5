"""`manage.py benchmark scale`: measure searches in a synthetic collection of any size, for people who see shares of it."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from pgvector import HalfVector

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.folders import select_folder_ids
from copilot_site.lib.progress import show_progress_bar
from evals.report import Report, Row
from evals.rights_world import make_reader
from evals.scale_world import Scale, read_sources
from evals.search_benchmark import WARM_UP, beside, measured
from knowledge.models import KnowledgeBase
from knowledge.retrieval.candidates import Candidate, IndexQuery, find_candidates, select_rarest_terms
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.fusion import fuse_scores
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.ranking import CANDIDATES, IMAGINED
from knowledge.retrieval.search import search
from knowledge.text.terms import compute_query_weights, extract_terms, hash_term

TOP = 10
SHARES = (1.0, 0.1, 0.01, 0.001)
EVERYTHING = Scope()
PLAIN = """
SELECT chunk_id FROM knowledge_chunkindex WHERE live AND space_id = {space} AND folder_id = ANY(%s::uuid[])
ORDER BY vector::halfvec({dimensions}) <#> %s::halfvec({dimensions}) LIMIT {top}
"""


class ScaleBenchmark:
    """Measures whole searches without a reranker, because the synthetic passages have no token vectors."""

    help = (
        "Fill a knowledge base of its own with mixtures of real passages, which stays for the next run and goes on where an "
        "interrupted one stopped, and search it as people who see 100, 10, 1 and 0.1 %% of it (made for the run and taken "
        "back). Use a COPILOT_HOME of its own, and delete it afterwards: while passages are written, no search has its indexes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="the base whose passages are mixed")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees all of it")
        parser.add_argument("--passages", type=int, default=300_000)
        parser.add_argument("--questions", type=int, default=100)

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        sources = read_sources(principal, get_visible(KnowledgeBase, principal, name=options["kb"]))
        scale = Scale(sources)
        scale.grow(options["passages"])
        questions = scale.questions(WARM_UP + options["questions"])
        rows, facts = list[Row](), dict[str, Any]()
        with transaction.atomic():
            for share in SHARES:
                name = f"sees {share * 100:g} %"
                facts[name] = _measure(name, make_reader(scale.base, share), questions, rows)
            transaction.set_rollback(True)
        return Report(
            peer=f"one embedding and one plain pgvector statement that is handed the folders, with pgvector's defaults; for "
            f"recall@{TOP} an exact scan is 1",
            rows=rows,
            facts=facts
            | {
                "passages": scale.passages,
                "folders": scale.base.folders.count(),
                "mixed from": len(sources),
                "questions": options["questions"],
                "limit of an exact pass": settings.SEARCH_EXACT_LIMIT,
            },
        )


def _measure(name: str, who: Principal, questions: Sequence[str], rows: list[Row]) -> str:
    """Measure the searches of one person; add the rows, and return which way the searches went."""
    visible = make_plan(who, EVERYTHING).visible
    uses_indexes = visible > settings.SEARCH_EXACT_LIMIT
    ids = select_folder_ids(who, Right.VIEW)
    with connection.cursor() as cursor:
        cursor.execute(ids.sql, ids.params)
        folders = [pk for (pk,) in cursor.fetchall()]
    ours = measured(lambda text: search(who, text, top_k=TOP), questions)
    rows += beside(name, ours, measured(partial(_plain, folders), questions))
    found = dict[str, list[float]](fused=[], dense=[], peer=[], count=[])
    for text in show_progress_bar(questions[WARM_UP:], desc="recall", unit="question"):
        exact = _candidates(who, text, use_indexes=False)
        taken = _candidates(who, text, use_indexes=uses_indexes)
        found["fused"].append(_share(_first_ten(taken), _first_ten(exact)))
        found["dense"].append(_share(_nearest(taken), _nearest(exact)))
        found["peer"].append(_share(_plain(folders, text), _nearest(exact)))
        found["count"].append(len(search(who, text, top_k=TOP).hits))
    rows += [
        Row(f"{name}, recall@{TOP}", "share", float(np.mean(found["fused"]))),
        Row(
            f"{name}, recall@{TOP} of vectors alone",
            "share",
            float(np.mean(found["dense"])),
            float(np.mean(found["peer"])),
        ),
        Row(f"{name}, fewest of {min(TOP, visible)}", "passages", min(found["count"])),
    ]
    return f"{visible} passages in {len(folders)} folders, by {'the indexes' if uses_indexes else 'one exact pass'}"


def _plain(folders: Sequence[object], text: str) -> set[object]:
    vector = load_engine().ask(text)[0]
    with connection.cursor() as cursor:
        statement = PLAIN.format(space=load_engine().space_id, dimensions=len(vector), top=TOP)
        cursor.execute(statement, [list(folders), HalfVector(vector).to_text()])
        return {pk for (pk,) in cursor.fetchall()}


def _candidates(principal: Principal, text: str, *, use_indexes: bool) -> list[Candidate]:
    """Find the candidates of a question, by one pass over all visible passages or by the indexes."""
    with_engine = load_engine()
    vector, _question = with_engine.ask(text)
    ids = [hash_term(term) for term in extract_terms(text)]
    plan = make_plan(principal, EVERYTHING, term_ids=ids)
    weights = compute_query_weights(ids, plan.frequencies, plan.corpus_chunks + IMAGINED)
    return find_candidates(
        principal,
        IndexQuery(vector, weights),
        EVERYTHING,
        space_id=with_engine.space_id,
        depth=CANDIDATES,
        use_indexes=use_indexes,
        rare_terms=select_rarest_terms(weights, plan),
        share=plan.share,
    )


def _first_ten(found: Sequence[Candidate]) -> set[object]:
    """Return the ids of the best ten by both scores, before any reranking."""
    dense, lexical = (np.array([getattr(c, name) for c in found], np.float32) for name in ("dense", "lexical"))
    order = np.argsort(-fuse_scores(dense, lexical, weight=load_engine().lexical_weight), kind="stable")[:TOP]
    return {found[place].chunk_id for place in order}


def _nearest(found: Sequence[Candidate]) -> set[object]:
    return {row.chunk_id for row in sorted(found, key=lambda row: -row.dense)[:TOP]}


def _share(found: set[object], wanted: set[object]) -> float:
    return len(found & wanted) / len(wanted) if wanted else 1.0
