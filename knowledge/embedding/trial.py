"""A served embedder on trial, before the operator names it in the settings: one text is sent and the answer checked."""

import math
from typing import Any

from django.utils.translation import gettext as _
from requests import RequestException

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.outgoing.addresses import AddressRefused, build_http_service_policy, check_url
from copilot_site.lib.outgoing.http import HttpSession

TIMEOUT_S = 20
REFUSED = frozenset({401, 403})


def measure_dimensions(base_url: str, *, model: str, key: str = "") -> int:
    """Return the length of a service's vectors. Connects only to addresses of COPILOT_OUTGOING_ALLOW.

    Raises InvalidInput, whose sentence says which setting to look at.
    """
    policy = build_http_service_policy(base_url)
    check_url(base_url, policy)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"model": model, "input": ["trial"], "encoding_format": "float"}
    try:
        with HttpSession(policy) as session:
            answer = session.post(f"{base_url.rstrip('/')}/embeddings", json=body, headers=headers, timeout=TIMEOUT_S)
            found = answer.json()
    except AddressRefused:
        raise
    except ValueError as error:  # no JSON; requests' own is one, too
        raise _build_unreadable_error() from error
    except RequestException as error:
        message = _("Nothing answers at this address. Check it, and that the service is running.")
        raise InvalidInput(message) from error
    if answer.status_code in REFUSED:
        raise InvalidInput(_("The service responds but refuses the key: it must be allowed to create embeddings."))
    if not answer.ok:
        raise InvalidInput(
            _("The service refuses with status %(status)s: check the name of the model.")
            % {"status": answer.status_code}
        )
    return _read_vector_length(found)


def _read_vector_length(found: Any) -> int:
    try:
        vector = [float(number) for number in found["data"][0]["embedding"]]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise _build_unreadable_error() from error
    if not vector or not math.isfinite(sum(vector)) or not any(vector):
        raise InvalidInput(_("It does not return a vector: this model creates no embeddings."))
    return len(vector)


def _build_unreadable_error() -> InvalidInput:
    message = _(
        "Its response cannot be read. The address should end where the OpenAI-compatible interface begins, like /v1."
    )
    return InvalidInput(message)
