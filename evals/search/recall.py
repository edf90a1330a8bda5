"""How much of an exact scan's first ten the indexes of large collections find."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.db import transaction

from authz.principal import Principal
from copilot_site.lib.progress import progress
from knowledge.retrieval.candidates import Candidate, Question, find_candidates, rarest
from knowledge.retrieval.engine import engine
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.ranking import CANDIDATES, IMAGINED
from knowledge.services.indexes import build_in_transaction
from knowledge.text.terms import query_weights, term_id, terms

TOP = 10


def recall_of_indexes(people: Mapping[str, Principal], scope: Scope, questions: Sequence[str]) -> dict[str, float]:
    """{who: mean share of the exact scan's fused first ten that the indexed path finds}, over the questions.

    Builds the indexes that are missing in a transaction that is rolled back: nobody writes passages meanwhile.
    """
    shares: dict[str, list[float]] = {who: [] for who in people}
    with transaction.atomic():
        build_in_transaction(engine().space_id)
        for text in progress(questions, desc="recall", unit="question"):
            for who, principal in people.items():
                exact, indexed = (first_ten(candidates_of(principal, text, scope, use)) for use in (False, True))
                if exact:
                    shares[who].append(len(exact & indexed) / len(exact))
        transaction.set_rollback(True)
    return {who: float(np.mean(found)) if found else 1.0 for who, found in shares.items()}


def candidates_of(principal: Principal, text: str, scope: Scope, use_indexes: bool) -> list[Candidate]:
    """The candidates of a question, by one pass over all that is visible or by the indexes."""
    with_engine = engine()
    vector, _question = with_engine.ask(text)
    ids = [term_id(term) for term in terms(text)]
    plan = make_plan(principal, scope, term_ids=ids)
    weights = query_weights(ids, plan.frequencies, plan.corpus_chunks + IMAGINED)
    return find_candidates(
        principal,
        Question(vector, weights),
        scope,
        space_id=with_engine.space_id,
        depth=CANDIDATES,
        use_indexes=use_indexes,
        rare_terms=rarest(weights, plan),
        share=plan.share,
    )


def first_ten(found: Sequence[Candidate]) -> set[object]:
    """The ids of the best ten by both scores, before any reranking."""
    dense, lexical = (np.array([getattr(c, name) for c in found], np.float32) for name in ("dense", "lexical"))
    order = np.argsort(-fuse(dense, lexical, weight=engine().lexical_weight), kind="stable")[:TOP]
    return {found[place].chunk_id for place in order}
