"""What every API view starts from: who is asking."""

from functools import cached_property
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.parsers import JSONParser

from authz.principal import Principal


class PrincipalView(GenericAPIView[Any]):
    """A view that knows its principal, read from the database once for each request."""

    parser_classes = [JSONParser]

    @cached_property
    def principal(self) -> Principal:
        return Principal.of(self.request.user)
