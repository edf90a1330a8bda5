"""What a program has: an address, a token, a conversation."""

from collections.abc import Iterable

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from copilot_client import Backoff, Client, StreamResponse, Transcript
from tests.integration.agent.conversations import make_library, make_reader
from tests.integration.agent.modelled import THIRTY
from tests.modelserver import Step, calls, says

QUICK = Backoff(first_s=0.001, longest_s=0.002, attempts=50)
PATIENT_S = 300.0  # a loaded machine may take its time
SEARCH = calls(("knowledge_search", {"queries": ["annual leave days"]}))
SHOWN = THIRTY.replace(" [1].", ".[1]")


class Desk:
    """url: of the served product. secret: a token for chat and search."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base, self.manual, self.hidden = make_library()
        self.reader = make_reader(self.base)
        scopes = [TokenScope.CHAT, TokenScope.SEARCH]
        self.secret = issue_token(Principal.of(self.reader), name="program", scopes=scopes)[1]

    def client(self, url: str = "") -> Client:
        return Client(url or self.url, self.secret, backoff=QUICK, timeout=PATIENT_S)


def script(*more: Step) -> tuple[Step, ...]:
    """A model that thinks, searches and answers."""
    thinks = Step(
        [{"reasoning_content": "Let me "}, {"reasoning_content": "look."}, *SEARCH.deltas], finish="tool_calls"
    )
    return (thinks, says(THIRTY), *more)


def text_of(events: Iterable[StreamResponse]) -> str:
    transcript = Transcript()
    for event in events:
        transcript.take(event)
    return transcript.text
