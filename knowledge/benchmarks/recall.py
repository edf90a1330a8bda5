"""How much of an exact scan's first ten the indexes of large collections find."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.db import transaction

from authz.principal import Principal
from copilot_site.lib.progress import progress
from knowledge.engine import Engine, engine
from knowledge.retrieval.candidates import Candidate, Question, find_candidates, rarest
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.ranking import CANDIDATES, IMAGINED
from knowledge.retrieval.terms import query_weights, term_id, terms
from knowledge.services.indexes import build_in_transaction

TOP = 10


def recall_of_indexes(people: Mapping[str, Principal], scope: Scope, questions: Sequence[str]) -> dict[str, float]:
    """{who: mean share of the exact scan's fused first ten that the indexed path finds}, over the questions.

    Builds the indexes that are missing in a transaction that is rolled back: nobody writes passages meanwhile.
    """
    with_engine = engine()
    shares: dict[str, list[float]] = {who: [] for who in people}
    with transaction.atomic():
        build_in_transaction(with_engine.space_id)
        for text in progress(questions, desc="recall", unit="question"):
            for who, principal in people.items():
                exact, indexed = (_first(principal, text, scope, with_engine, use) for use in (False, True))
                if exact:
                    shares[who].append(len(exact & indexed) / len(exact))
        transaction.set_rollback(True)
    return {who: float(np.mean(found)) if found else 1.0 for who, found in shares.items()}


def _first(principal: Principal, text: str, scope: Scope, with_engine: Engine, use_indexes: bool) -> set[object]:
    vector, _question = with_engine.ask(text)
    ids = [term_id(term) for term in terms(text)]
    plan = make_plan(principal, scope, term_ids=ids)
    weights = query_weights(ids, plan.frequencies, plan.corpus_chunks + IMAGINED)
    found: list[Candidate] = find_candidates(
        principal,
        Question(vector, weights),
        scope,
        space_id=with_engine.space_id,
        depth=CANDIDATES,
        use_indexes=use_indexes,
        rare_terms=rarest(weights, plan),
    )
    dense, lexical = (np.array([getattr(c, name) for c in found], np.float32) for name in ("dense", "lexical"))
    order = np.argsort(-fuse(dense, lexical, weight=with_engine.lexical_weight), kind="stable")[:TOP]
    return {found[place].chunk_id for place in order}
