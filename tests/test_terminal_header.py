"""The header: what is known, who answers, and by which trained model is searched."""

from __future__ import annotations

from pathlib import Path

from round_rows import of
from screen_fixtures import ChatOnScreen, on_screen


def go_live(chat: ChatOnScreen, version: str) -> None:
    """A round that ends with its model live, as its learner writes it."""
    rounds = of(chat).rounds
    number = rounds.begin("retriever", {})
    rounds.promote(
        number,
        "query encoder",
        version,
        "Promoted.",
        details={},
        figures={},
        before_the_first="untrained",
        compared_with={"query encoder": of(chat).live_models.live("query encoder")},
    )


async def test_the_header_tells_which_trained_model_is_live(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        assert "model" not in chat.text.splitlines()[0]  # none was trained
        go_live(chat, "first-1111")
        go_live(chat, "second-2222")
        chat.app.chat.heard_of_training("Round 2 went live.")
        told = "0 yours · 1 shared · scripted · model 2"
        await chat.until(lambda: chat.text.splitlines()[0].endswith(told))
        of(chat).live_models.step_back("query encoder")
        chat.app.chat.heard_of_training("told")
        await chat.until(lambda: chat.text.splitlines()[0].endswith(" · model 1"))
