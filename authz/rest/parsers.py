"""How bodies of the API are read."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from copilot_site.lib.json_input import MOST_LEVELS, NestedTooDeeply, require_shallow


class BoundedJSONParser(JSONParser):
    """A JSON body of the API; 400 with a sentence for one that is nested without end, or has halves of characters in its texts."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            body = require_shallow(super().parse(stream, media_type, parser_context))
        except (RecursionError, NestedTooDeeply):
            said = _("The JSON of this request is nested too deeply: at most %(most)s levels are read.")
            raise ParseError(said % {"most": MOST_LEVELS}) from None
        try:
            json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ParseError(
                _("A text of this request holds half of a character (one surrogate of a pair) and cannot be kept.")
            ) from None
        return body
