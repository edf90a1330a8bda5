"""Where migration 0003 looks for a default; the models are in `authz.models`."""

from authz.models.tokens import default_scopes

__all__ = ["default_scopes"]
