"""How the model is, and whether workers hold it back."""

from __future__ import annotations

from core.doctor.checks import Check, CheckStatus
from core.errors import ConfigurationError, DatabaseDown, ModelDown
from core.settings import OFFLINE_MODEL, Settings


async def ask_model(settings: Settings) -> str | Check:
    """Ask the model for one word. Raises ModelDown, ConfigurationError."""
    from core import bootstrap
    from core.llm import knock

    name = settings.require_model()
    model = bootstrap.chat_model(settings)
    if name == OFFLINE_MODEL:
        return "the offline stand-in, for trying things out"
    held = await _held(settings)
    try:
        await knock(model)
    except ModelDown as error:
        raise ModelDown(error.message + held, hint=_model_fix(settings, name, error)) from error
    except ConfigurationError as error:
        raise ConfigurationError(error.message + held, hint=error.hint) from error
    finally:
        await bootstrap.close_chat_model(model)
    if not held:
        return f"{name} answers"
    return Check(
        name="model",
        status=CheckStatus.WARN,
        detail=f"{name} answers{held}",
        fix="a running worker asks it every LLM_PROBE_SECONDS and goes on: `skill-worker run`",
    )


async def _held(settings: Settings) -> str:
    """Say since when workers hold the model back, or nothing: also where no one can tell."""
    from core import bootstrap

    try:
        hold = await bootstrap.model_hold(settings)
    except (DatabaseDown, ConfigurationError):
        return ""  # the check of the database says why
    since = f"{hold.since:%Y-%m-%d %H:%M:%S} UTC" if hold else ""
    return f"; workers have held it back since {since}: {hold.reason}" if hold else ""


def _model_fix(settings: Settings, name: str, error: ModelDown) -> str:
    if "cannot be reached" not in error.message:
        return "nothing here: it answers, but not usefully; workers ask it again by themselves"
    if settings.llm_proxy_url is not None:
        return f"start the proxy at LLM_PROXY_URL={settings.llm_proxy_url}, or mend that setting"
    provider = name.partition(":")[0]
    return f"see whether this machine reaches {provider}, or set LLM_PROXY_URL to a proxy"
