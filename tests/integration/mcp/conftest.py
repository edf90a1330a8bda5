"""The desk of the tests of `client`, and an issuer of tokens."""

from tests.integration.client.conftest import desk  # noqa: F401  # a fixture
from tests.integration.sign_in.conftest import issuer  # noqa: F401  # a fixture
