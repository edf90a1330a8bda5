"""The states of a run, one file each."""

from collections.abc import Mapping

from agent.run_state.state import State
from agent.states.act import act
from agent.states.calculate import calculate
from agent.states.clarify import clarify
from agent.states.load_authz import load_authz
from agent.states.preprocess import preprocess
from agent.states.query import query
from agent.states.refuse import refuse
from agent.states.retrieve import retrieve
from agent.states.route import route
from agent.states.synthesize import synthesize
from agent.states.validate_evidence import validate_evidence
from agent.workflow import Step

STATES: Mapping[State, Step] = {
    State.PREPROCESS: preprocess,
    State.LOAD_AUTHZ: load_authz,
    State.ROUTE: route,
    State.ACT: act,
    State.RETRIEVE: retrieve,
    State.QUERY: query,
    State.CALCULATE: calculate,
    State.CLARIFY: clarify,
    State.VALIDATE_EVIDENCE: validate_evidence,
    State.SYNTHESIZE: synthesize,
    State.REFUSE: refuse,
}
