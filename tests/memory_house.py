"""One store, and users who talk there to models on servers, without the command around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from agents.models.encoders.encoder import OnnxEncoder
from agents.models.reader import OnnxReader
from agents.models.reader_files import LARGE, SMALL
from assistant.settings.config import MemorySettings, ModelSettings, Settings
from assistant.settings.locations import Locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED
from stores.claims.decisions import Learned
from stores.database.tables import StatedClaim
from stores.versions.changes import NewVersion, add_versions
from stores.versions.receipts import open_receipt

Parts: TypeAlias = Callable[[Assistant], None]


class House:
    """One store, and users who talk there, each with a model's server of their settings."""

    def __init__(self, folder: Path, parts: Parts) -> None:
        self._locations = Locations(
            data=folder / "data", settings=folder / "settings.toml", cache=folder, state=folder / "state"
        )
        self._parts = parts
        self.user = "ann"
        self.learned: list[Learned] = []
        self.assistant: Any = None

    def use_server(self, base_url: str, **more: Any) -> None:
        """As a new process would, with these settings."""
        self.close()
        of_model: dict[str, Any] = {"name": "scripted", "retries": 0, "timeout_seconds": 60.0, **more}
        model = ModelSettings(backend="openai", base_url=base_url, **of_model)
        memory = MemorySettings(agents="model")  # which is not probed
        self.assistant = Assistant(Settings(model=model, memory=memory), self._locations)
        self._parts(self.assistant)
        self.assistant.catch_up()

    @property
    def user_id(self) -> int:
        return int(self.assistant.stores.journal.user_id(self.user))

    def say(self, *messages: str) -> str:
        """Sends messages, and has each remembered before the next; returns the last answer."""
        session = self.assistant.stores.journal.open_session(self.user_id)
        for message in messages:
            answer = self.assistant.turns.host.play(self.user_id, session, message, watch=lambda event: None)
            self.remember()
        return str(answer.answer)

    def remember(self) -> None:
        self.assistant.turns.host.remember(self.user_id, self.learned.append)
        assert self.assistant.turns.host.settle(60)

    def retry(self) -> None:
        self.assistant.stores.claim_jobs.retry_now(self.user_id)
        self.remember()

    def note(self, text: str) -> None:
        self.assistant.stores.knowledge.remember(self.user_id, text)
        self.assistant.catch_up()

    def share(self, fact: str) -> None:
        """Takes a fact into the shared memory, as an accepted proposal does."""
        with self.assistant.stores.database.writing() as sql:
            receipt_id = open_receipt(sql, self.user_id, "add", SHARED, "accepted")
            new = [NewVersion(text=fact, kind="fact")]
            add_versions(sql, SHARED, new, author="test", receipt_id=receipt_id)
        self.assistant.catch_up()

    @property
    def waiting(self) -> list[Any]:
        return list(self.assistant.stores.claim_jobs.waiting(self.user_id))

    def kept(self, scope: str = "all") -> set[str]:
        """What was learned and is found now."""
        kinds = ("fact", "preference")
        catalogue, user = self.assistant.stores.catalogue, self.user_id
        return {line.text for kind in kinds for line in catalogue.lines(user, scope=scope, kind=kind)}

    @property
    def claims(self) -> list[StatedClaim]:
        with self.assistant.stores.database.reading() as sql:
            return list(sql.query(StatedClaim).order_by(StatedClaim.id))

    def close(self) -> None:
        if self.assistant is not None:
            self.assistant.close()


def loaded_parts(minilm_folder: Path) -> Parts:
    """Gives an assistant the encoder and the readers, loaded once."""
    encoder = OnnxEncoder(minilm_folder, threads=1)
    reader, large = OnnxReader(SMALL, threads=1), OnnxReader(LARGE, threads=1)

    def give(assistant: Assistant) -> None:
        assistant.search.__dict__.update(wanted_encoder=encoder)
        assistant.models.__dict__.update(reader=reader, large_reader=large)

    return give
