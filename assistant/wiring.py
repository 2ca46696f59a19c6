"""Chooses implementations: the only file that knows them all.

Each part is made when it is first asked for, so that a command pays for what it uses and nothing
else: listing memory loads no encoder, and a small shared space opens no ChromaDB.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assistant.config import Settings
from assistant.locations import Locations
from stores.errors import ModelUnreachable, StoreUnavailable

if TYPE_CHECKING:
    from agents.interfaces import ChatModel
    from agents.models.encoder import OnnxEncoder
    from agents.retriever import Retriever
    from assistant.library.ingest import Ingest
    from assistant.turns.pipeline import TurnPipeline
    from assistant.turns.player import TurnPlayer
    from stores.catalogue import Catalogue
    from stores.chroma_vectors import ChromaVectors
    from stores.database import Database
    from stores.indexer import Indexer
    from stores.journal import Journal
    from stores.knowledge import Knowledge
    from stores.live_models import LiveModels
    from stores.spaces import Spaces
    from stores.stored_documents import StoredDocuments

_log = logging.getLogger(__name__)


def _is_on_this_machine(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # another name
        return False


class Assistant:
    """The parts of one running Vouch."""

    def __init__(
        self,
        settings: Settings,
        locations: Locations,
        *,
        api_key: str = "",
        offline: bool = False,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """tell: is given a sentence for the person when something takes long."""
        self.settings = settings
        self.locations = locations
        self._api_key = api_key
        self._offline = offline
        self._tell = tell
        locations.create_directories()

    # Stores

    @cached_property
    def database(self) -> Database:
        """The SQL database."""
        from stores.database import Database

        return (
            Database(self.settings.store.url) if self.settings.store.url else Database.at(self.locations.data)
        )

    @cached_property
    def journal(self) -> Journal:
        """Users, sessions and turns."""
        from stores.journal import Journal

        return Journal(self.database)

    @cached_property
    def stored_documents(self) -> StoredDocuments:
        """Documents and the passages they were cut into."""
        from stores.stored_documents import StoredDocuments

        return StoredDocuments(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What each user can see of what is known."""
        from stores.catalogue import Catalogue

        return Catalogue(self.database)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Remembering, forgetting and undo."""
        from stores.knowledge import Knowledge

        return Knowledge(self.database)

    @cached_property
    def live_models(self) -> LiveModels:
        """Which models answer."""
        from stores.live_models import LiveModels

        return LiveModels(self.database)

    @cached_property
    def spaces(self) -> Spaces:
        """What each user may search."""
        from stores.spaces import Spaces

        return Spaces(
            self.database,
            encoder_version=self.encoder.version,
            dimension=self.encoder.dimension,
            exact_up_to=self.settings.retrieval.exact_up_to,
            open_shared_index=lambda: self.shared_index(writes=False),
        )

    def shared_index(self, *, writes: bool) -> ChromaVectors | None:
        """The shared space's index; None where it is to be written and another process writes it."""
        from stores.chroma_vectors import ChromaVectors

        if self._shared_index is None or (writes and not self._shared_index.writes):
            try:
                self._shared_index = ChromaVectors(
                    self.locations.data / "chroma", self.encoder.version, writes=writes
                )
            except StoreUnavailable as error:
                if not writes:
                    raise
                _log.info("shared index not written: %s", error.message)
                return None
        return self._shared_index

    _shared_index: ChromaVectors | None = None

    @cached_property
    def indexer(self) -> Indexer:
        """Brings the indexes up to what the database says."""
        from stores.indexer import Indexer

        return Indexer(
            self.database,
            encoder_version=self.encoder.version,
            dimension=self.encoder.dimension,
            encode=self.encoder.encode_passages,
            open_shared_index=lambda: self.shared_index(writes=True),
        )

    # Models

    @cached_property
    def encoder(self) -> OnnxEncoder:
        """The encoder that the settings name, prepared on first use."""
        from agents.models.encoder import OnnxEncoder, prepare_encoder

        folder = prepare_encoder(
            self.settings.encoder.source or None,
            self.locations.cache / "encoders",
            tell=self._tell,
            offline=self._offline,
        )
        return OnnxEncoder(folder, threads=self.settings.encoder.threads)

    @cached_property
    def chat_model(self) -> ChatModel:
        """The model that writes the replies."""
        model = self.settings.model
        if model.backend == "openai":
            if self._offline and not _is_on_this_machine(model.base_url):
                raise ModelUnreachable(
                    f"--offline keeps Vouch from asking {model.base_url}",
                    hint="Leave --offline out, or set model.backend to extractive.",
                )
            from agents.backends.openai_chat import OpenAIChat

            return OpenAIChat(
                base_url=model.base_url,
                model=model.name,
                api_key=self._api_key,
                timeout_seconds=model.timeout_seconds,
                max_retries=model.retries,
                max_tokens=model.max_tokens,
                temperature=model.temperature,
            )
        from agents.backends.extractive import ExtractiveChat

        return ExtractiveChat(
            self.encoder, threshold=self.settings.answer.threshold, quotes=self.settings.answer.sentences
        )

    # What it does

    @cached_property
    def retriever(self) -> Retriever:
        """Finds passages for the reranker."""
        return self.retriever_keeping(self.settings.retrieval.candidates)

    def retriever_keeping(self, count: int) -> Retriever:
        """Finds so many passages."""
        from agents.retriever import Fusion, Retriever

        retrieval = self.settings.retrieval
        return Retriever(
            self.encoder,
            keep=count,
            pool=max(retrieval.pool, count),
            fusion=Fusion(
                dense_weight=retrieval.dense_weight,
                document_lift=retrieval.document_lift,
                conversation_lift=retrieval.conversation_lift,
            ),
        )

    @cached_property
    def pipeline(self) -> TurnPipeline:
        """Answers messages."""
        from agents.query_augmenter import QueryAugmenter
        from agents.reranker import Reranker
        from agents.responder import Responder
        from agents.score_judge import ScoreJudge
        from assistant.library.cutting import cut
        from assistant.turns.pipeline import TurnPipeline

        reranking = self.settings.reranking
        return TurnPipeline(
            journal=self.journal,
            spaces=self.spaces,
            indexer=self.indexer,
            encoder=self.encoder,
            augmenter=QueryAugmenter(),
            retriever=self.retriever,
            reranker=Reranker(
                ScoreJudge(),
                schedule=reranking.schedule,
                budget=reranking.budget,
                min_judged=reranking.min_judged,
            ),
            responder=Responder(self.chat_model, keep=self.settings.answer.passages),
            cut=partial(cut, whole_up_to_words=200),
            history_turns=self.settings.answer.history_turns,
        )

    @cached_property
    def player(self) -> TurnPlayer:
        """Plays turns for a command without an event loop of its own."""
        from assistant.turns.player import TurnPlayer

        return TurnPlayer(self.pipeline)

    @cached_property
    def ingest(self) -> Ingest:
        """Stores documents."""
        from assistant.library.ingest import Ingest

        return Ingest(self.stored_documents, self.encoder, self.indexer)

    def catch_up(self) -> None:
        """What a start owes the stores: vectors by the live encoder, and no job left waiting."""
        live = self.live_models.live("encoder")
        if live != self.encoder.version:
            if live is not None:
                self._tell(
                    f"The encoder changed from {live} to {self.encoder.version}: encoding what is stored."
                )
            self.indexer.index_everything()
            self.live_models.make_live("encoder", self.encoder.version)
        self.indexer.catch_up()

    def close(self) -> None:
        """Lets go of threads, locks and connections."""
        made = self.__dict__
        if "player" in made:
            self.player.close()
        if self._shared_index is not None:
            self._shared_index.close()
        if "database" in made:
            self.database.close()
