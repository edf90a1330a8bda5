"""Find the best ten passages of a question by an exact scan and by the indexes of large collections."""

from collections.abc import Sequence

import numpy as np

from authz.principal import Principal
from knowledge.retrieval.candidates import Candidate, Question, find_candidates, rarest
from knowledge.retrieval.engine import engine
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.ranking import CANDIDATES, IMAGINED
from knowledge.text.terms import query_weights, term_id, terms

TOP = 10


def candidates_of(principal: Principal, text: str, scope: Scope, use_indexes: bool) -> list[Candidate]:
    """Find the candidates of a question, by one pass over all visible passages or by the indexes."""
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
    """Return the ids of the best ten by both scores, before any reranking."""
    dense, lexical = (np.array([getattr(c, name) for c in found], np.float32) for name in ("dense", "lexical"))
    order = np.argsort(-fuse(dense, lexical, weight=engine().lexical_weight), kind="stable")[:TOP]
    return {found[place].chunk_id for place in order}
