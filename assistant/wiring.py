"""Chooses implementations: the only file that knows them all.

Each part is made when it is first asked for, so that a command pays for what it uses and nothing
else: listing memory loads no encoder, and a small shared space opens no ChromaDB.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assistant.config import Settings
from assistant.locations import Locations
from stores.errors import EncoderUnavailable, ModelUnreachable, StoreUnavailable, VouchError

if TYPE_CHECKING:
    from agents.interfaces import ChatModel, Encoder, Judge, Vectors
    from agents.models.encoder import OnnxEncoder
    from agents.models.reader import OnnxReader
    from agents.readings import Readings
    from agents.retriever import Fusion, Retriever
    from assistant.encoder_change import BackgroundChange, EncoderChange
    from assistant.learning.background import BackgroundLearner
    from assistant.learning.both_sides import BothSides
    from assistant.learning.learner import Learner
    from assistant.learning.occasions import Occasions
    from assistant.learning.steering import Steering
    from assistant.library.ingest import Ingest
    from assistant.shared_indexes import SharedIndexes
    from assistant.turns.answers_first import AnswersFirst
    from assistant.turns.pipeline import TurnPipeline
    from assistant.turns.player import TurnPlayer
    from assistant.turns.remembering import Agents, Remembering
    from assistant.turns.searching import Searching
    from stores.catalogue import Catalogue
    from stores.checkpoints import Checkpoints
    from stores.claim_jobs import ClaimJobs
    from stores.claims import Claims
    from stores.data_directory import DirectoryLock
    from stores.database import Database
    from stores.encoder_versions import EncoderVersion, EncoderVersions
    from stores.indexer import Indexer
    from stores.journal import Journal
    from stores.knowledge import Knowledge
    from stores.lessons import Lesson
    from stores.live_models import LiveModels
    from stores.memory_export import MemoryExport
    from stores.memory_import import MemoryImport
    from stores.proposals import Proposals
    from stores.rounds import Rounds
    from stores.spaces import Spaces
    from stores.stored_documents import StoredDocuments

QUERY_ENCODER = "query encoder"  # the role of a model that was trained for the live encoder's vectors
ENCODER_FILES = ("model.onnx", "tokenizer.json", "encoder.json")  # that one is loaded from
_ENCODED_AT_ONCE = 200  # passages that a start encodes anew without asking for patience


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
        self._searchings: dict[str, Searching] = {}  # by encoder version
        self._background_change: BackgroundChange | None = None
        self._directory_lock: DirectoryLock | None = None
        self._learner: tuple[tuple[str, str], Learner] | None = None  # and what it was made for
        locations.create_directories()

    # Stores

    @cached_property
    def database(self) -> Database:
        """The SQL database. No backup is restored over its file until `close`."""
        from stores.data_directory import DirectoryLock
        from stores.database import Database, database_file

        url = self.settings.store.url
        file = database_file(url) if url else self.locations.data / "vouch.db"
        if file is not None and file.parent.is_dir() and self._directory_lock is None:
            self._directory_lock = DirectoryLock(file.parent)
        return Database(url) if url else Database.at(self.locations.data)

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
    def memory_export(self) -> MemoryExport:
        """A memory written out, to be taken along."""
        from stores.memory_export import MemoryExport

        return MemoryExport(self.database)

    @cached_property
    def memory_import(self) -> MemoryImport:
        """A memory that was written out, taken in."""
        from stores.memory_import import MemoryImport

        return MemoryImport(self.database)

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
    def encoder_versions(self) -> EncoderVersions:
        """Which encoder's vectors are searched."""
        from stores.encoder_versions import EncoderVersions

        return EncoderVersions(self.database)

    @property
    def searching(self) -> Searching:
        """What searches now: of the live encoder version, which another process may have changed."""
        live = self.encoder_versions.live()
        base = self._searching_by(self.wanted_encoder) if live is None else self.searching_with(live)
        return self._with_trained_queries(base)

    def searching_with(self, version: EncoderVersion) -> Searching:
        """What searches by a version that has vectors here, whether it is the live one or not."""
        return self._searchings.get(version.version) or self._searching_by(self._loaded(version))

    @property
    def spaces(self) -> Spaces:
        """What each user may search."""
        return self.searching.spaces

    @property
    def indexer(self) -> Indexer:
        """Brings the indexes up to what the database says."""
        return self.searching.indexer

    def _searching_by(self, encoder: Encoder) -> Searching:
        """All that searches with this encoder; made once a version."""
        if encoder.version in self._searchings:
            return self._searchings[encoder.version]
        from assistant.turns.searching import Searching
        from stores.indexer import Indexer
        from stores.shared_index import SharedIndex
        from stores.spaces import Spaces

        indexes = self._indexes
        shared_index = SharedIndex(
            self.database,
            name=indexes.name,
            encoder_version=encoder.version,
            dimension=encoder.dimension,
            exact_up_to=indexes.exact_up_to,
            open_index=partial(indexes.open, encoder),
        )
        made = Searching(
            encoder,
            Spaces(
                self.database,
                encoder_version=encoder.version,
                dimension=encoder.dimension,
                shared_index=shared_index,
            ),
            self.retriever_keeping(encoder, self.settings.retrieval.candidates),
            Indexer(
                self.database,
                encoder_version=encoder.version,
                encode=encoder.encode_passages,
                shared_index=shared_index,
            ),
            shared_index,
        )
        self._searchings[encoder.version] = made
        return made

    def _with_trained_queries(self, base: Searching) -> Searching:
        """The same with the query encoder that was trained for these vectors and is live, if there is one."""
        version = self.live_models.live(QUERY_ENCODER)
        known = self.live_models.known(QUERY_ENCODER, version) if version else None
        if known is None or known.details.get("encoder_version") != base.encoder.version:
            return base
        key = f"{base.encoder.version} {known.version}"
        if key not in self._searchings:
            try:
                self._searchings[key] = self._with_queries_by(
                    base, self.checkpoints.verified("retriever", known.version, files=ENCODER_FILES)
                )
            except VouchError as error:
                self._tell(f"{error.message}. Search goes on without it. {error.hint}")
                self._searchings[key] = base
        return self._searchings[key]

    def _with_queries_by(self, base: Searching, folder: Path) -> Searching:
        from agents.models.encoder import OnnxEncoder
        from agents.models.two_sided import TwoSidedEncoder

        queries = OnnxEncoder(folder, threads=self.settings.encoder.threads)
        encoder = TwoSidedEncoder(base.encoder, queries)
        retriever = self.retriever_keeping(encoder, self.settings.retrieval.candidates)
        return replace(base, encoder=encoder, retriever=retriever)

    def discard_shared_index(self) -> Path | None:
        """Deletes the files of the index in use, which is derived; None where it has none here."""
        return self._indexes.discard(self.encoder.version)

    @cached_property
    def _indexes(self) -> SharedIndexes:
        from assistant.shared_indexes import SharedIndexes

        return SharedIndexes(self.settings, self.locations.data, self.database)

    # Learning

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """The models that were trained here."""
        from stores.checkpoints import Checkpoints

        return Checkpoints(self.locations.data / "models")

    @cached_property
    def rounds(self) -> Rounds:
        """Rounds of training, and what came of them."""
        from stores.rounds import Rounds

        return Rounds(self.database)

    @cached_property
    def steering(self) -> Steering:
        """Makes the learner of this process wait or leave off."""
        from assistant.learning.steering import Steering

        return Steering()

    @cached_property
    def occasions(self) -> Occasions:
        """When a round is to begin by itself."""
        from assistant.learning.occasions import Occasions
        from stores.lessons import Lessons

        learning = self.settings.learning
        return Occasions(
            Lessons(self.database),
            self.rounds,
            recipe="retriever",
            fewest=learning.fewest_lessons,
            new_lessons=learning.new_lessons,
            hours=learning.hours,
        )

    @cached_property
    def background_learner(self) -> BackgroundLearner:
        """Learns while a person chats, in a process that is told what this one was told; until `close`."""
        from assistant.learning.background import BackgroundLearner

        command = [sys.executable, "-m", "assistant.cli", "train", "--led", "--json"]
        command += ["--data", str(self.locations.data.resolve())]
        if self.locations.settings.is_file():
            command += ["--settings", str(self.locations.settings.resolve())]
        if self._offline:
            command.append("--offline")
        made = BackgroundLearner(
            command,
            folder=Path(__file__).parents[1],  # Python searches it first: never the person's
            is_due=self.occasions.is_due,
            came_to_nothing=self.occasions.came_to_nothing,
        )
        self._answers_first.watch(made.answering)
        return made

    @property
    def learner(self) -> Learner:
        """Trains on what was judged, and decides what goes live; for the encoder that is live by now."""
        live, side = self.encoder_versions.live(), self._update_side()
        key = (live.version if live is not None else "", side)
        if self._learner is None or self._learner[0] != key:
            self._learner = (key, self._learner_of(live, side))
        return self._learner[1]

    def _learner_of(self, version: EncoderVersion | None, side: str) -> Learner:
        from assistant.learning.ended import Compared
        from assistant.learning.learner import Learner
        from assistant.replay.held_out import compare
        from stores.lessons import Lessons

        learning = self.settings.learning
        base = self._searching_by(self.wanted_encoder) if version is None else self.searching_with(version)
        source = self.settings.encoder.source if version is None else version.source

        def compared(folder: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
            is_both = side == "both"
            candidate = self._searching_in(folder) if is_both else self._with_queries_by(base, folder)
            found = compare(
                lessons,
                live=self.searching.retriever,
                candidate=candidate.retriever,
                spaces=base.spaces,
                candidate_spaces=candidate.spaces,
                judge=self._judge_of_candidates,
                seed=learning.seed,
                threshold=learning.least_gain,
                margin=learning.margin,
                tell=tell,
            )
            return Compared(found.promotion, {**found.figures, "questions": found.questions})

        return Learner(
            lessons=Lessons(self.database),
            rounds=self.rounds,
            live_models=self.live_models,
            checkpoints=self.checkpoints,
            encoder_version=base.encoder.version,
            dimension=base.encoder.dimension,
            compare=compared,
            settings={
                "update_side": side,
                "epochs": learning.epochs,
                "learning_rate": learning.learning_rate,
                "seed": learning.seed,
            },
            fewest=learning.fewest_lessons,
            threads=learning.threads,
            encoder=self._trainable(source),
            both=self._both_sides(base.encoder.version) if side == "both" else None,
            steering=self.steering,
        )

    def _update_side(self) -> str:
        """query or both."""
        learning = self.settings.learning
        if learning.update_side != "auto":
            return learning.update_side
        is_small = self.encoder_versions.live_passages() <= learning.both_up_to
        return "both" if is_small else "query"

    def _both_sides(self, live: str) -> BothSides:
        from assistant.learning.both_sides import BothSides

        known = self.encoder_versions.live()
        root = known.trained_from if known is not None and known.trained_from else live
        return BothSides(
            self.encoder_versions,
            searching=self._searching_in,
            trained_from=root,
            discard_index=self._indexes.discard,
        )

    def _searching_in(self, folder: Path) -> Searching:
        """What searches by the encoder of a folder; read once."""
        from agents.models.encoder import OnnxEncoder

        if (known := self._searchings.get(str(folder))) is None:
            encoder = OnnxEncoder(folder, threads=self.settings.encoder.threads)
            known = self._searchings[str(folder)] = self._searching_by(encoder)
        return known

    def _trainable(self, source: str) -> Path | None:
        """The weights of an encoder; None for the packaged one."""
        from assistant.learning import both_sides

        if kept := both_sides.kept_as(source):
            return self.checkpoints.verified(both_sides.RECIPE, kept)
        return trainable(source) if source else None

    def step_back(self) -> str:
        """Searches with the model before the live one again; returns its version. Raises `CannotUndo`."""
        last = next((row for row in self.rounds.latest() if row.state == "promoted"), None)
        if last is None or last.figures.get("side") != "both":
            return self.live_models.step_back(QUERY_ENCODER)
        if (previous := self.encoder_versions.previous()) is not None:
            self.searching_with(previous)  # raises where it cannot be had: by it nothing would be found
        return self.encoder_versions.step_back().version

    @property
    def _judge_of_candidates(self) -> Judge:
        """The judge of turns, unless that goes by a retriever's own scores: none is to judge itself."""
        if self.settings.reranking.judge != "scores":
            return self.judge
        from agents.reader_judge import ReaderJudge

        return ReaderJudge(self.readings)

    # Models

    @cached_property
    def wanted_encoder(self) -> OnnxEncoder:
        """The encoder that the settings name, prepared on first use."""
        return self._prepared(self.settings.encoder.source)

    @property
    def encoder(self) -> Encoder:
        """The encoder whose vectors are searched."""
        return self.searching.encoder

    def _loaded(self, live: EncoderVersion) -> OnnxEncoder:
        """The encoder of a version that made vectors here."""
        from agents.models.encoder import OnnxEncoder
        from assistant.learning import both_sides

        if kept := both_sides.kept_as(live.source):
            folder = self.checkpoints.verified(both_sides.RECIPE, kept) / "served"
            return OnnxEncoder(folder, threads=self.settings.encoder.threads)
        folder = self.locations.cache / "encoders" / live.version
        if self._wanted_version() == live.version:
            return self.wanted_encoder
        if folder.is_dir():
            return OnnxEncoder(folder, threads=self.settings.encoder.threads)
        encoder = self._prepared(live.source)
        if encoder.version != live.version:
            raise EncoderUnavailable(
                f"The encoder {live.version}, whose vectors are searched, cannot be loaded any more",
                hint="`vouch encoder --build` encodes everything with the one that the settings name.",
            )
        return encoder

    def _wanted_version(self) -> str:
        """What the settings name, as far as that can be had just now; empty otherwise."""
        try:
            return self.wanted_encoder.version
        except EncoderUnavailable as error:
            if self.encoder_versions.live() is None:
                raise
            self._tell(f"{error.message}. Search goes on with the encoder used before.")
            return ""

    def _prepared(self, source: str, *, threads: int | None = None) -> OnnxEncoder:
        from agents.models.encoder import OnnxEncoder, prepare_encoder

        folder = prepare_encoder(
            source or None,
            self.locations.cache / "encoders",
            tell=self._tell,
            offline=self._offline,
        )
        return OnnxEncoder(folder, threads=self.settings.encoder.threads if threads is None else threads)

    @cached_property
    def reader(self) -> OnnxReader:
        """The built-in reader, prepared on first use."""
        from agents.models.reader import OnnxReader
        from agents.models.reader_files import WEIGHTS, prepare_reader

        folder = prepare_reader(WEIGHTS, self.locations.cache / "readers", tell=self._tell)
        return OnnxReader(folder, threads=self.settings.encoder.threads)

    @cached_property
    def readings(self) -> Readings:
        """What the reader says of questions and passages."""
        from agents.readings import Readings

        return Readings(self.reader)

    @cached_property
    def judge(self) -> Judge:
        """What judges candidates."""
        if self.settings.reranking.judge == "reader":
            from agents.reader_judge import ReaderJudge

            return ReaderJudge(self.readings)
        if self.settings.reranking.judge == "scores":
            from agents.score_judge import ScoreJudge

            return ScoreJudge()
        from agents.cross_encoder_judge import CrossEncoderJudge
        from agents.models.cross_encoder import OnnxCrossEncoder, prepare_cross_encoder

        folder = prepare_cross_encoder(
            self.settings.reranking.judge,
            self.locations.cache / "cross-encoders",
            tell=self._tell,
            offline=self._offline,
        )
        return CrossEncoderJudge(OnnxCrossEncoder(folder, threads=self.settings.encoder.threads))

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
                context_tokens=model.context_tokens,
            )
        if model.backend == "transformers":
            from agents.backends.transformers_chat import TransformersChat

            return TransformersChat(
                model.name,
                max_tokens=model.max_tokens,
                temperature=model.temperature,
                context_tokens=model.context_tokens,
                offline=self._offline,
            )
        if model.backend == "vllm":
            from agents.backends.vllm_chat import VllmChat

            return VllmChat(
                model.name,
                max_tokens=model.max_tokens,
                temperature=model.temperature,
                context_tokens=model.context_tokens,
                offline=self._offline,
            )
        from agents.backends.extractive import ExtractiveChat
        from agents.quoting import Quoter

        return ExtractiveChat(
            Quoter(
                _LiveEncoder(self),
                threshold=self.settings.answer.threshold,
                unsure_from=self.settings.answer.unsure_from,
                quotes=self.settings.answer.sentences,
                readings=self.readings if self.settings.answer.reader else None,
            )
        )

    # What it does

    def retriever_keeping(self, encoder: Encoder, count: int) -> Retriever:
        """Finds so many passages, in spaces of the same encoder version."""
        from agents.retriever import Retriever

        pool = max(self.settings.retrieval.pool, count)
        return Retriever(encoder, keep=count, pool=pool, fusion=self.fusion)

    @property
    def fusion(self) -> Fusion:
        """How signals become one score."""
        from agents.retriever import Fusion

        retrieval = self.settings.retrieval
        return Fusion(
            dense_weight=retrieval.dense_weight,
            document_lift=retrieval.document_lift,
            conversation_lift=retrieval.conversation_lift,
            reply_lift=retrieval.reply_lift,
            speaker_bonus=retrieval.speaker_bonus,
            time_bonus=retrieval.time_bonus,
        )

    @cached_property
    def pipeline(self) -> TurnPipeline:
        """Answers messages."""
        from agents.query_augmenter import QueryAugmenter
        from agents.reranker import Reranker
        from agents.responder import Responder
        from assistant.library.cutting import cut
        from assistant.turns.pipeline import TurnPipeline

        reranking = self.settings.reranking
        return TurnPipeline(
            journal=self.journal,
            searching=lambda: self.searching,
            augmenter=QueryAugmenter(),
            reranker=Reranker(
                self.judge,
                schedule=reranking.schedule,
                budget=reranking.budget,
                min_judged=reranking.min_judged,
                order=reranking.order,
                judge_share=reranking.judge_share,
            ),
            responder=Responder(
                self.chat_model,
                keep=self.settings.answer.passages,
                reply_tokens=self.settings.model.max_tokens,
            ),
            cut=partial(cut, whole_up_to_words=200),
            history_turns=self.settings.answer.history_turns,
            learns=self.settings.memory.learn,
            settled=self.claims.settled_words,
            answers_first=self._answers_first,
        )

    @cached_property
    def _answers_first(self) -> AnswersFirst:
        from assistant.turns.answers_first import AnswersFirst

        return AnswersFirst()

    @cached_property
    def claims(self) -> Claims:
        """What users stated, and what became of it."""
        from stores.claims import Claims

        return Claims(self.database)

    @cached_property
    def claim_jobs(self) -> ClaimJobs:
        """What is left to remember."""
        from stores.claim_jobs import ClaimJobs

        return ClaimJobs(self.database)

    @cached_property
    def proposals(self) -> Proposals:
        """Claims that somebody may take into the shared memory."""
        from stores.proposals import Proposals

        return Proposals(self.database)

    @cached_property
    def remembering(self) -> Remembering:
        """Works off what turns have left to remember."""
        from assistant.turns.remembering import Remembering

        return Remembering(
            claims=self.claims,
            jobs=self.claim_jobs,
            agents=lambda: self._remembering_agents,
            searching=lambda: self.searching,
            answers_first=self._answers_first,
        )

    @cached_property
    def _remembering_agents(self) -> Agents:
        from agents.classifier import Classifier
        from agents.curator import RuleCurator
        from assistant.turns.remembering import Agents

        memory, reader = self.settings.memory, self.reader
        by_model = memory.agents == "model" or (
            memory.agents == "auto" and self.settings.model.backend != "extractive"
        )
        classifier, curator = Classifier(shared_from=memory.shared_from), RuleCurator(reader)
        if by_model:
            from agents.chat_curator import ChatCurator
            from agents.chat_discriminator import ChatDiscriminator
            from agents.chat_summarizer import ChatSummarizer
            from assistant.turns.background_chat import BackgroundChat

            chat = BackgroundChat(self.chat_model, self._answers_first)
            return Agents(
                ChatSummarizer(chat), ChatDiscriminator(chat), classifier, ChatCurator(chat, curator)
            )
        from agents.reader_discriminator import ReaderDiscriminator
        from agents.reader_summarizer import ReaderSummarizer

        return Agents(ReaderSummarizer(reader), ReaderDiscriminator(reader), classifier, curator)

    @cached_property
    def player(self) -> TurnPlayer:
        """Plays turns for a command without an event loop of its own."""
        from assistant.turns.player import TurnPlayer

        return TurnPlayer(self.pipeline, lambda: self.remembering)

    @cached_property
    def ingest(self) -> Ingest:
        """Stores documents."""
        from assistant.library.ingest import Ingest

        return Ingest(self.stored_documents, lambda: self.encoder, lambda: self.indexer)

    def encoder_change(self, *, even_declined: bool = False) -> EncoderChange | None:
        """The change to the encoder that the settings name; None where that one is live.

        One that was stepped back from counts only when `even_declined`.
        """
        versions = self.encoder_versions
        live, wanted = versions.live(), self._wanted_version()
        if not wanted or (live is not None and live.version == wanted):
            return None
        if live is not None and live.trained_from == wanted:
            return None
        if versions.declined() == wanted and not even_declined:
            return None
        from assistant.encoder_change import EncoderChange
        from stores.encoder_versions import EncoderVersion

        encoder = self.wanted_encoder
        new = EncoderVersion(encoder.version, self.settings.encoder.source, encoder.dimension)
        return EncoderChange(versions, new, lambda: self._searching_by(encoder))

    def catch_up(self, *, in_background: bool = False) -> None:
        """What a start owes the stores: an encoder that is live, and no job left waiting.

        in_background: an encoder that takes long to change is changed meanwhile, until `close`.
        """
        change = self.encoder_change()
        if change is not None:
            live = self.encoder_versions.live()
            if live is None or change.missing() <= _ENCODED_AT_ONCE:
                for _ in change.build():
                    pass
                if live is not None:
                    self._tell(f"The encoder changed from {live.version} to {change.new.version}.")
            else:
                self._tell(
                    f"The settings name another encoder, {change.new.version}: {change.cost().told()}. "
                    f"Until that is done, search goes on with {live.version}."
                )
                if in_background:
                    from assistant.encoder_change import BackgroundChange

                    self._tell("It is done while you chat.")
                    self._background_change = BackgroundChange(change, self._tell)
                    self._background_change.start()
                else:
                    self._tell("`vouch encoder --build` does it now; `vouch chat` does it while it is open.")
        from stores.forgetting import Forgetting

        with suppress(StoreUnavailable):  # another process reads: the bytes go at the next start
            Forgetting(self.database).compact(patience_seconds=2)
        indexer = self.indexer
        indexer.catch_up()
        if indexer.hindrance is not None:
            self._tell(f"The shared index waits: {indexer.hindrance.message}. {indexer.hindrance.hint}")

    def close(self) -> None:
        """Lets go of threads, locks and connections."""
        made = self.__dict__
        if "background_learner" in made:
            self.background_learner.close()
        if self._background_change is not None:
            self._background_change.stop()
        if "player" in made:
            self.player.close()
        if "_indexes" in made:
            self._indexes.close()
        if "database" in made:
            self.database.close()
        if self._directory_lock is not None:
            self._directory_lock.close()


def trainable(source: str) -> Path:
    """The folder with the weights of an encoder that is no packaged one."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, local_files_only=True))  # it is there: it was exported
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(f"The weights of {source} are not here any more: {error}") from error


class _LiveEncoder:
    """Whichever encoder is live at the moment, as one `Encoder`."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    @property
    def version(self) -> str:
        return self._assistant.encoder.version

    @property
    def dimension(self) -> int:
        return self._assistant.encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._assistant.encoder.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._assistant.encoder.encode_passages(texts)
