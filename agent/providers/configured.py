"""Make model connections from settings and rows."""

from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext as _

from agent.connections.local_models import build_model_policy
from agent.connections.service_keys import KeyLost, open_service_key
from agent.models import LanguageModel
from agent.providers.base import ChatModel, ModelMisconfigured, Prices
from agent.providers.openai_compatible import ModelLimits, OpenAICompatible, ServedModel
from copilot_site.lib.errors import InvalidInput

FROM_SETTINGS = "default"  # the name of the model that the environment configures


def find_served_model(name: str = "") -> ServedModel | None:
    """Return the model of this name, or the default for ""; None where none is configured.

    Raises InvalidInput for an unknown name, ModelMisconfigured where its key cannot be read.
    """
    rows = LanguageModel.objects.filter(is_enabled=True)
    row = rows.filter(name=name).first() if name else rows.filter(is_default=True).first()
    if row is not None:
        return build_served_model(row)
    if name and name != FROM_SETTINGS:
        known = ", ".join(list_model_names()) or "-"
        raise InvalidInput(
            _("There is no language model “%(name)s”. Choose from: %(known)s.") % {"name": name, "known": known}
        )
    return load_settings_model()


def require_served_model(name: str = "") -> ServedModel:
    """Return the model of this name, or the default, for commands. Raises InvalidInput where none is configured."""
    served = find_served_model(name)
    if served is None:
        raise InvalidInput(
            "No language model is configured: set COPILOT_LLM_BASE_URL and COPILOT_LLM_MODEL, or add one."
        )
    return served


def list_model_names() -> list[str]:
    names = list(LanguageModel.objects.filter(is_enabled=True).values_list("name", flat=True))
    return [*names, FROM_SETTINGS] if load_settings_model() else names


async def probe_model(served: ServedModel) -> None:
    """Send a tiny request and stop at its first word. Raises ModelError."""
    limits = replace(served.limits, first_s=15.0, total_s=20.0, attempts=1)
    model = connect(replace(served, limits=limits))
    try:
        async with aclosing(model.stream([{"role": "user", "content": "Say: ok"}])) as reply:  # type: ignore[type-var]
            async for _delta in reply:
                return
    finally:
        await model.aclose()


def connect(served: ServedModel) -> ChatModel:
    """Return a connection for one run; close it at the end."""
    return OpenAICompatible(served)


def build_served_model(row: LanguageModel) -> ServedModel:
    """Return the model of a row, stored or not. Raises ModelMisconfigured where its key cannot be read."""
    try:
        key = open_service_key(row.encrypted_key, row.base_url)
    except KeyLost as error:
        raise ModelMisconfigured(f"{row.name}: {error}") from error
    prices = Prices(Decimal(row.price_input), Decimal(row.price_output))
    return ServedModel(
        row.name, row.base_url, row.model, key, prices, row.context_tokens, policy=build_model_policy(row)
    )


def load_settings_model() -> ServedModel | None:
    """Return the model that the environment configures, None where it does not."""
    chosen = settings.LLM
    if not chosen["base_url"] or not chosen["model"]:
        return None
    return ServedModel(
        FROM_SETTINGS,
        chosen["base_url"],
        chosen["model"],
        chosen["api_key"],
        Prices(chosen["price_input"], chosen["price_output"]),
        chosen["context_tokens"],
        chosen.get("limits") or ModelLimits(),
    )
