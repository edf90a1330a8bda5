"""What left the house in a run, as its state keeps it."""

from pydantic import BaseModel, Field


class AskedOutside(BaseModel):
    """A question that left the house, word for word. to: the host that it was sent to; provider: its name here."""

    query: str
    provider: str
    to: str


class FetchedOutside(BaseModel):
    """A page that was asked for. code: "ok", or why it was not read (`agent.web.fetching.Code`)."""

    url: str
    code: str


class WebSummary(BaseModel):
    """What left the house in this run."""

    asked: list[AskedOutside] = Field(default_factory=list)
    fetched: list[FetchedOutside] = Field(default_factory=list)
