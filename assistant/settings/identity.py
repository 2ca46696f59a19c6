"""Who is asking: whose memory it is, and with which key the model's server is asked."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from assistant.settings.config import ModelSettings, Settings
from assistant.settings.locations import expanded, home_directory
from stores.base.errors import WrongUsage


def user_name(option: str | None, environ: Mapping[str, str]) -> str:
    """Whose memory it is: --user, then VOUCH_USER, then the login name."""
    if option is not None:
        given, origin = option, "--user"
    elif environ.get("VOUCH_USER"):
        given, origin = environ["VOUCH_USER"], "VOUCH_USER"
    else:
        given, origin = _login_name(), "the login name"

    name = unicodedata.normalize("NFC", given).strip()
    hint = "Give another with --user or VOUCH_USER."
    if not 1 <= len(name) <= 64:
        raise WrongUsage(f"{origin} has {len(name)} characters, but must have 1 to 64", hint=hint)
    # Controls, formats, lone surrogates and line ends can make two names look alike or break a screen.
    unfit = [c for c in name if c in "/\\" or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    if unfit:
        raise WrongUsage(f"{origin} is {name!r}, but must not hold {unfit[0]!r}", hint=hint)
    if name in (".", ".."):
        raise WrongUsage(f"{origin} is {name!r}, which is no name", hint=hint)
    return name


def _login_name() -> str:
    import getpass

    try:
        return getpass.getuser() or "me"
    except (OSError, KeyError, ImportError):
        return "me"


def api_key(model: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key for the model's server; empty when there is none.

    VOUCH_API_KEY, then OPENAI_API_KEY if the server is OpenAI's own, then `model.key_file`. OpenAI's
    key is not shown to any other server, nor sent in the clear.
    """
    from urllib.parse import urlsplit

    server = urlsplit(model.base_url)
    if environ.get("VOUCH_API_KEY"):
        return _checked_key(environ["VOUCH_API_KEY"], "VOUCH_API_KEY")
    if environ.get("OPENAI_API_KEY") and (server.scheme, server.hostname) == ("https", "api.openai.com"):
        return _checked_key(environ["OPENAI_API_KEY"], "OPENAI_API_KEY")
    if model.key_file:
        return _key_in_file(expanded(model.key_file, home_directory(environ)))
    return ""


def key_for(settings: Settings, model: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key for the server of one of the settings' models; empty when there is none.

    Of a [models.NAME] VOUCH_API_KEY_NAME, or else its key file: the key of [model] is for its server alone.
    """
    section = settings.section_of(model)
    if section == "model":
        return api_key(model, environ)
    variable = f"VOUCH_API_KEY_{re.sub(r'[^A-Z0-9]', '_', section.partition('.')[2].upper())}"
    return api_key(model, {**environ, "VOUCH_API_KEY": environ.get(variable, "")})


def _key_in_file(path: Path) -> str:
    try:
        if not path.is_file():
            raise WrongUsage(
                f"model.key_file names {path}, which is no file", hint="Change it in settings.toml."
            )
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & ~0o600 or not mode & stat.S_IRUSR:
            raise WrongUsage(
                f"The key file {path} has mode {stat.S_IMODE(mode):04o}, but must be its owner's alone",
                hint=f"Run: chmod 600 {path}",
            )
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise WrongUsage(f"The key file {path} cannot be read: {reason}") from None
    return _checked_key(content.decode("latin-1"), f"The key file {path}")


def _checked_key(key: str, origin: str) -> str:
    """The key without blanks around it; an error never shows it."""
    key = key.strip()
    if not re.fullmatch(r"[!-~]+", key):
        raise WrongUsage(f"{origin} does not hold a key: one word of printable ASCII characters")
    return key
