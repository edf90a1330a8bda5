"""The settings of models: who makes vectors, who reorders hits, and the language model."""

import os
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator


class ModelConfig(BaseModel):
    """Part of `Config`; each field has its meaning in its description."""

    embedder: Literal["bundled", "sentence_transformers", "openai_compatible"] = Field(
        default="bundled", description="Who makes vectors; bundled needs no network, key or torch."
    )
    embedder_model: str | None = Field(default=None, description="Name or path of the model, for all but bundled.")
    embedder_base_url: str | None = Field(default=None, description="https://…/v1 of an OpenAI-compatible embedder.")
    embedder_api_key: SecretStr | None = Field(default=None, description="Its key.")
    embed_threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=1, le=64, description="CPU threads of one embedder; all cores."
    )
    embed_release_s: float | None = Field(
        default=None,
        gt=0,
        description="Seconds without use until the bundled embedder leaves a process's memory; unset: it stays.",
    )
    reranker: Literal["maxsim", "cross_encoder", "none"] = Field(
        default="maxsim", description="Reorders the best hits; maxsim uses the embedder's own token vectors."
    )
    reranker_model: str | None = Field(default=None, description="Name or path of the CrossEncoder.")

    # the language model; without one, answers are quoted from documents
    llm_base_url: str | None = Field(
        default=None, description="https://…/v1 of an OpenAI-compatible model; unset: answers are quotations."
    )
    llm_api_key: SecretStr | None = Field(default=None, description="Its key.")
    llm_model: str | None = Field(default=None, description="Its name, as the service knows it.")
    llm_context_tokens: int = Field(
        default=32_000, ge=2_000, le=10_000_000, description="Tokens that fit into it, question and answer together."
    )
    llm_price_input: Decimal = Field(
        default=Decimal(0), ge=0, description="Price of a million tokens sent, in your currency; for budgets."
    )
    llm_price_output: Decimal = Field(default=Decimal(0), ge=0, description="Price of a million tokens received.")
    llm_run_cost: Decimal | None = Field(
        default=None, ge=0, description="Most that one question may cost; unset: no limit."
    )
    llm_day_cost: Decimal | None = Field(
        default=None, ge=0, description="Most that one person's questions may cost a day; unset: no limit."
    )
    llm_keys_secret: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="Encrypts keys of models that are kept in the database; unset: derived from COPILOT_SECRET_KEY.",
    )

    @field_validator("embedder_model")
    @classmethod
    def _embedder_is_named(cls, model: str | None, info: ValidationInfo) -> str | None:
        embedder = info.data.get("embedder", "bundled")
        if embedder != "bundled" and not model:
            raise ValueError(f"COPILOT_EMBEDDER={embedder} needs the name of a model")
        return model

    @field_validator("embedder_base_url")
    @classmethod
    def _embedder_has_an_address(cls, url: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("embedder") == "openai_compatible" and not (url or "").startswith(("http://", "https://")):
            raise ValueError("COPILOT_EMBEDDER=openai_compatible needs an address like https://host/v1")
        return url

    @field_validator("reranker_model")
    @classmethod
    def _cross_encoder_is_named(cls, model: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("reranker") == "cross_encoder" and not model:
            raise ValueError("COPILOT_RERANKER=cross_encoder needs the name or path of a CrossEncoder")
        return model
