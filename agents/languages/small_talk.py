"""One line for who greets, thanks or asks what there is, in the language of the message."""

from __future__ import annotations

from agents.languages.signs import Languages, is_english

ENGLISH = "Ask me something, or tell me something to remember; /help lists what else there is."
_LINES = {
    "ar": "اسألني شيئا، أو أخبرني بشيء لأتذكره؛ يعرض ‎/help ما يمكن فعله أيضا.",
    "de": "Frag mich etwas, oder sag mir etwas, das ich mir merken soll; /help zeigt, was es noch gibt.",
    "es": "Pregúntame algo o cuéntame algo que deba recordar; /help muestra qué más hay.",
    "fr": "Posez-moi une question, ou dites-moi quelque chose à retenir ; /help montre le reste.",
    "it": "Chiedimi qualcosa, o dimmi qualcosa da ricordare; /help elenca il resto.",
    "ja": "質問するか、覚えておいてほしいことを教えてください。ほかにできることは /help で見られます。",
    "nl": "Vraag me iets, of vertel me iets om te onthouden; /help toont wat er nog meer is.",
    "pl": "Zapytaj mnie o coś albo powiedz, co mam zapamiętać; /help pokazuje resztę.",
    "pt": "Pergunte-me algo, ou diga-me algo para lembrar; /help mostra o resto.",
    "ru": "Спросите меня о чём-нибудь или скажите, что запомнить; /help показывает остальное.",
    "tr": "Bana bir şey sor ya da hatırlamam için bir şey söyle; gerisini /help gösterir.",
    "zh": "问我问题，或者告诉我要记住的事；/help 列出其他功能。",
}
_TALK_FROM = 0.5  # probability from which a message is small talk


def answered_at_once(languages: Languages | None, message: str, *, says_something: bool) -> str | None:
    """The line for a message that is small talk, and in another language also for what there is to do.

    None for all others. An English "what can you do?" is looked up: the manual may be there.
    says_something: it asks or states something, so it is no small talk.
    """
    if languages is None:
        return None
    wanted = ([] if says_something else ["talk"]) + ([] if is_english(languages, message) else ["ask_tool"])
    if not wanted:
        return None
    (signs,) = languages.signs([message])
    return said_in(languages, message) if signs.of(wanted) >= _TALK_FROM else None


def said_in(languages: Languages | None, message: str) -> str:
    """Where to go next, in the language of a message where it is known."""
    if languages is None or is_english(languages, message):
        return ENGLISH
    return _LINES.get(languages.language(message), ENGLISH)
