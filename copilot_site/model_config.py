"""The settings of models: the embedder, the reranker, and the language model."""

from decimal import Decimal

from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator


class ModelConfig(BaseModel):
    """Part of `Config`; each field has its meaning in its description."""

    embedder_model: str | None = Field(default=None, description="Name or path of another model than the bundled one.")
    embedder_base_url: str | None = Field(
        default=None, description="https://…/v1 of an OpenAI-compatible embedder; unset: it runs here."
    )
    embedder_api_key: SecretStr | None = Field(default=None, description="Its key.")
    reranker_model: str | None = Field(
        default=None, description="Name or path of a CrossEncoder that reorders hits; unset: the bundled model."
    )

    # the language model; without one, answers are quoted from documents
    llm_base_url: str | None = Field(
        default=None, description="https://…/v1 of an OpenAI-compatible model; unset: answers are quotations."
    )
    llm_api_key: SecretStr | None = Field(default=None, description="Its key.")
    llm_model: str | None = Field(default=None, description="Its name, as the service knows it.")
    llm_day_cost: Decimal | None = Field(
        default=None,
        ge=0,
        description="Most that one person's questions may cost a day, by the prices of models in the administration; unset: no limit.",
    )

    @field_validator("embedder_base_url")
    @classmethod
    def _embedder_is_whole(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must be an address like https://host/v1")
        if url and not info.data.get("embedder_model"):
            raise ValueError("set COPILOT_EMBEDDER_MODEL to the name of the model, too")
        return url

    @property
    def embedder(self) -> str:
        """Name the embedder that the settings choose."""
        if self.embedder_base_url:
            return "openai_compatible"
        return "sentence_transformers" if self.embedder_model else "bundled"

    @property
    def reranker(self) -> str:
        """Name the reranker: a CrossEncoder where one is set, else token vectors, which only the bundled embedder makes."""
        if self.reranker_model:
            return "cross_encoder"
        return "maxsim" if self.embedder == "bundled" else "none"
