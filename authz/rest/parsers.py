"""Parsers of API request bodies."""

from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from copilot_site.lib.text.json_input import MAX_LEVELS, HalfCharacter, NestedTooDeeply, load_json


class BoundedJSONParser(JSONParser):
    """A JSON body of the API, read as every JSON from outside; 400 with a sentence for one that is refused."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return parse_body(stream.read())


def parse_body(data: bytes) -> Any:
    """Return the JSON of a request. Raises ParseError."""
    try:
        return load_json(data)
    except NestedTooDeeply:
        sentence = _("The JSON of this request is nested too deeply: at most %(most)s levels are read.")
        raise ParseError(sentence % {"most": MAX_LEVELS}) from None
    except HalfCharacter:
        raise ParseError(
            _("The text contains half a character (an unpaired surrogate) and cannot be stored.")
        ) from None
    except ValueError as error:
        raise ParseError(f"JSON parse error - {error}") from error
