"""The errors a person can act on; every edge (page, API, command, admin) turns them into one clear sentence."""


class CopilotError(Exception):
    """Root of the errors whose text is meant for people."""


class NotFound(CopilotError):
    """Missing, or not yours: the same words for both, on purpose."""


class PermissionDenied(CopilotError):
    """The row is visible to this person, the action is not theirs."""


class InvalidInput(CopilotError):
    """What was given cannot be used; the text says what is wrong and what would be right."""


class Conflict(InvalidInput):
    """What was given is fine by itself and collides with what is there."""
