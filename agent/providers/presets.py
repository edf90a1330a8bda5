"""List the addresses of services of language models; a form starts with these values.

Read on 2026-11-29. Confirmed in the service's own documentation: Ollama, vLLM, Qwen (Alibaba Model Studio), Zhipu, OpenRouter; in copies of
it: Azure OpenAI, DeepSeek. OpenAI, Mistral, llama.cpp, Moonshot and most context sizes come from other pages. Names of models change often:
they are suggested, never filled in.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ABILITIES: Final = (_("Tools"), "JSON", _("Reasoning"))
SAFE_CONTEXT = 32_000  # where the context depends on the model that is served


@dataclass(frozen=True)
class Preset:
    """models: suggestions, as the service knows them. context_tokens: of the first one, or what always fits.

    can: what the service documents for the first one, of `ABILITIES`; empty where that depends on the model. All of these stream.
    about: what to do first.
    """

    key: str
    name: str
    base_url: str
    models: tuple[str, ...]
    can: tuple[str | Promise, ...] = ABILITIES
    context_tokens: int = SAFE_CONTEXT
    about: str | Promise = ""
    is_local: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.removeprefix("YOUR-RESOURCE-NAME.")


PRESETS: Final = (
    Preset(
        "ollama",
        "Ollama",
        "http://localhost:11434/v1",
        ("qwen3:8b", "gpt-oss:20b"),
        context_tokens=4_096,  # its default on graphics cards below 24 GB
        about=_(
            "Get a model first: ollama pull qwen3:8b. Ollama reads 4,096 tokens unless it is started with OLLAMA_CONTEXT_LENGTH=32000 or "
            "more; then write the same number under “Advanced”."
        ),
        is_local=True,
    ),
    Preset(
        "vllm",
        "vLLM",
        "http://localhost:8001/v1",  # its own default, 8000, is this site's
        ("Qwen/Qwen3-8B", "openai/gpt-oss-20b"),
        about=_(
            "Start it with --port 8001, for tools with --enable-auto-tool-choice and --tool-call-parser, and for models that reason with "
            "--reasoning-parser. The context is what --max-model-len says."
        ),
        is_local=True,
    ),
    Preset(
        "llama-cpp",
        "llama.cpp",
        "http://localhost:8080/v1",
        ("default",),  # one server has one model, and answers to any name
        context_tokens=SAFE_CONTEXT,
        about=_("Start it with llama-server --jinja -c 32000; the context under “Advanced” is the number after -c."),
        is_local=True,
    ),
    Preset("openai", "OpenAI", "https://api.openai.com/v1", ("gpt-5-mini", "gpt-5"), context_tokens=400_000),
    Preset(
        "azure",
        "Azure OpenAI",
        "https://YOUR-RESOURCE-NAME.openai.azure.com/openai/v1",
        (),
        can=(),
        about=_("Put the name of your resource into the address; the model is the name of your deployment."),
    ),
    Preset(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        ("deepseek-v4-flash", "deepseek-v4-pro"),
        context_tokens=1_000_000,
    ),
    Preset(
        "qwen",
        "Qwen (通义千问)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        ("qwen-plus", "qwen-max"),
        context_tokens=131_072,
        about=_("With a key of the international site, the host is dashscope-intl.aliyuncs.com."),
    ),
    Preset("zhipu", "Zhipu (智谱)", "https://open.bigmodel.cn/api/paas/v4", ("glm-4.6",), context_tokens=200_000),
    Preset(
        "moonshot",
        "Moonshot (Kimi)",
        "https://api.moonshot.cn/v1",
        ("kimi-k2.6", "kimi-k2.5"),
        context_tokens=256_000,
        about=_("With a key of the international site, the host is api.moonshot.ai."),
    ),
    Preset(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        ("mistral-medium-latest", "mistral-large-latest"),
        context_tokens=128_000,
    ),
    Preset(
        "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", ("openrouter/auto",), can=(), context_tokens=128_000
    ),
)
OTHER: Final = Preset(
    "other", "", "", (), about=_("Any service that speaks OpenAI's protocol; its address often ends in /v1."), can=()
)


def find_preset(key: str) -> Preset:
    """Return a preset by its key, `OTHER` for any other key."""
    return next((preset for preset in PRESETS if preset.key == key), OTHER)
