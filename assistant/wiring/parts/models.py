"""What reads, judges and writes: the reader, the judge and the chat model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from assistant.settings.config import DEFAULT, TRAINED_JUDGE
from assistant.wiring.parts.given import Given
from assistant.wiring.parts.kept import loaded
from assistant.wiring.parts.search import Search
from assistant.wiring.parts.stores import Stores
from assistant.wiring.parts.trained import (
    COLLECTIONS,
    DIALOGUE,
    ENTITIES,
    JUDGE,
    QUERY,
    RELEVANCE,
    RETRIEVER,
    SHIPPED,
    TrainedModel,
)
from stores.base.errors import BackendMissing, ModelUnreachable, UnknownModel, VouchError
from stores.base.secrets import without_secrets

if TYPE_CHECKING:
    from agents.answering.listing import Lister
    from agents.answering.memory_answers import MemoryAnswers
    from agents.answering.overview import OverviewQuestions
    from agents.backends.query_model import QueryModel
    from agents.base.chat_interfaces import ChatModel
    from agents.base.interfaces import Encoder, Judge, Reader, Vectors
    from agents.dialogue.spoken import Spoken
    from agents.dialogue.tabulating import Tabulator
    from agents.dialogue.wish_parser import WishParser
    from agents.languages.message_sorting import MessageSorter
    from agents.models.dialogue_generator import DialogueGenerator
    from agents.models.entity_map import EntityMap
    from agents.models.networks.judge_model import JudgeModel
    from agents.models.reader import OnnxReader
    from agents.retrieval.chat_judge import ClosingChat
    from agents.retrieval.reader_judge import Readings
    from agents.retrieval.relevance import Relevance
    from agents.retrieval.reranker import Reranker
    from assistant.search.entity_search import EntitySearch
    from assistant.settings.config import ModelSettings


_OF_SERVERS = ("top_p", "seed", "reasoning_effort")  # settings that are sent as they are, if they are set


def _has_llamacpp() -> bool:
    return find_spec("xllamacpp") is not None


_WITHOUT_ADAPTERS = "The judge goes on as it comes"
_NEEDED_BY_JUDGE = ("torch", "transformers", "peft")
_MIN_JUDGED_TOLD = 17  # by the reader, where what was told comes first; chosen on dev (docs/experiments.md)


def _require_model(folder: Path, setting: str) -> None:
    if not (folder / "config.json").is_file():
        raise UnknownModel(
            f"There is no model in {folder}: it has no config.json",
            hint=f"Set {setting} to a folder with a model as transformers saves it.",
        )


class Models:
    """The models that take part in a turn, besides the encoder."""

    def __init__(self, given: Given, stores: Stores, search: Search) -> None:
        self.given, self._stores, self._search = given, stores, search
        self._chosen_model: ModelSettings | None = None
        self._keeps_query_model = False
        self._query_model: tuple[str, QueryModel] | None = None  # and the version of its adapters
        self._judge_model: tuple[str, JudgeModel] | None = None  # and the version of its adapters

    @cached_property
    def reader(self) -> OnnxReader:
        """The built-in reader of passages."""
        from agents.models.reader_files import SMALL

        return _reader(SMALL, self.given.settings.encoder.threads)

    @cached_property
    def large_reader(self) -> OnnxReader:
        """Reads what a user told, and the best passages once more: slower and better."""
        from agents.models.reader_files import LARGE

        return _reader(LARGE, self.given.settings.encoder.threads)

    @property
    def dialogue_generator(self) -> DialogueGenerator:
        """What replies over a knowledge base: the live one, which another process may have changed."""
        version = self.answering(DIALOGUE)
        if version not in self._dialogue_generators:
            folder = self._trained_folder(DIALOGUE, version, "Replies go on without it")
            self._dialogue_generators[version] = self.dialogue_generator_in(folder)
        return self._dialogue_generators[version]

    def answering(self, model: TrainedModel) -> str:
        """The live version; none where there are several users and others than curators taught it."""
        from stores.learning.dialogue_lessons import may_answer
        from stores.learning.relevance_lessons import may_order

        version, role = self._stores.live_models.live(model.role) or "", model.role
        is_known = self._stores.live_models.known(role, version) is not None
        curators = self.given.settings.memory.curators.split()
        may = may_order if model == RELEVANCE else may_answer
        if is_known and may(self._stores.database, role, version, curators=curators):
            return version
        return ""

    def _trained_folder(self, model: TrainedModel, version: str, goes_on: str) -> Path | None:
        """Where a version lies; None for what is shipped, and where it is damaged, which is told."""
        if version in ("", SHIPPED):
            return None
        try:
            return self._stores.checkpoints.verified(model.recipe, version)
        except VouchError as error:
            self.given.tell(f"{error.message}. {goes_on}. {error.hint}")
            return None

    @cached_property
    def _dialogue_generators(self) -> dict[str, DialogueGenerator]:
        """Those that were loaded, by version."""
        return {}

    def dialogue_generator_in(self, folder: Path | None) -> DialogueGenerator:
        """The one of a folder, or what Vouch comes with; it reads by the packaged encoder's vectors."""
        from agents.models.dialogue_generator import SHIPPED, DialogueGenerator

        return DialogueGenerator(
            folder or SHIPPED, self.packaged_encoder, threads=self.given.settings.encoder.threads
        )

    @property
    def entity_map(self) -> EntityMap:
        """What turns messages towards entities: the live one, which another process may have changed."""
        from agents.models.entity_map import EntityMap

        version = self.answering(ENTITIES)
        if version not in self._entity_maps:
            folder = self._trained_folder(ENTITIES, version, "Entities are found without it")
            self._entity_maps[version] = EntityMap() if folder is None else EntityMap.read(folder)
        return self._entity_maps[version]

    @cached_property
    def _entity_maps(self) -> dict[str, EntityMap]:
        """Those that were read, by version."""
        return {}

    @property
    def orders_by_weights(self) -> bool:
        """Whether what was found is ordered by weights that can be learned: they know the reader's scores."""
        reranking = self.given.settings.reranking
        return reranking.judge == "reader" and reranking.order != "classes"

    @property
    def first_relevance(self) -> Relevance:
        """Orders what was found before any weights were learned from use, as the settings have it."""
        from agents.retrieval.relevance import SHIPPED, Relevance, fixed_mix

        reranking = self.given.settings.reranking
        is_learned = self.orders_by_weights and reranking.order == "learned"
        return Relevance.read(SHIPPED) if is_learned else fixed_mix(reranking.judge_share)

    @property
    def relevance(self) -> Relevance:
        """Orders what was found: by the live weights, which another process may have changed."""
        version = self.answering(RELEVANCE) if self.orders_by_weights else ""
        if version not in self._relevances:
            self._relevances[version] = self._relevance_of(version) or self.first_relevance
        return self._relevances[version]

    def _relevance_of(self, version: str) -> Relevance | None:
        from agents.retrieval.relevance import FILE, Relevance, UnknownWeights

        goes_on = "What is found is ordered without them"
        if (folder := self._trained_folder(RELEVANCE, version, goes_on)) is None:
            return None
        try:
            return Relevance.read(folder / FILE)
        except UnknownWeights as error:
            self.given.tell(f"{error.message}. {goes_on}. {error.hint}")
            return None

    @cached_property
    def _relevances(self) -> dict[str, Relevance]:
        """Those that were read, by version."""
        return {}

    @cached_property
    def packaged_encoder(self) -> Encoder:
        """The first half that Vouch comes with, whatever searches."""
        from agents.models.encoders.two_halves import first_half

        if self.given.settings.encoder.source:
            return self._search.prepared("")
        return first_half(self._search.wanted_encoder)

    @property
    def query_model(self) -> QueryModel | None:
        """Makes follow-ups stand alone: the live one, which another process may have changed.

        None where nothing keeps it running, or it is not there.
        """
        if not self._keeps_query_model or self.query_base is None:
            return None
        version = self.answering(QUERY)
        with self._query_model_lock:
            if self._query_model is not None and self._query_model[0] == version:
                return self._query_model[1]
            if self._query_model is not None:
                self._query_model[1].close()
            made = self.query_model_of(self.query_adapters)
            self._query_model = (version, made)
            made.warm_up()
        return made

    def keep_query_model(self) -> None:
        """Starts it, if it is there; it loads for seconds, so it is of use to a chat that stays open."""
        self._keeps_query_model = bool(self.given.settings.answer.rewrite_milliseconds) and _has_llamacpp()
        _ = self.query_model

    @cached_property
    def _query_model_lock(self) -> Lock:
        return Lock()

    @cached_property
    def entity_search(self) -> EntitySearch:
        """Finds the entities that messages are about."""
        from assistant.search.entity_search import EntitySearch

        return EntitySearch(self._stores.knowledge_bases, lambda *given: self.entity_map.turned(*given))

    @property
    def spoken(self) -> Spoken:
        """What the live dialogue generator may speak of."""
        from agents.dialogue.spoken import Learned, Spoken

        generator = self.dialogue_generator
        if generator not in self._spoken:
            self._spoken[generator] = Spoken(lambda: self.packaged_encoder, Learned(*generator.learned))
        return self._spoken[generator]

    @cached_property
    def _spoken(self) -> WeakKeyDictionary[DialogueGenerator, Spoken]:
        return WeakKeyDictionary()

    @cached_property
    def wish_parser(self) -> WishParser | None:
        """Says what messages over a knowledge base want; None with an encoder that it was not trained by."""
        from agents.models.wish_network import SHIPPED

        return self._parser_by(SHIPPED)

    def _parser_by(self, weights: Path) -> WishParser | None:
        from agents.dialogue.wish_parser import WishParser
        from agents.models.dialogue_arrays import VECTOR
        from agents.models.wish_network import WishNetwork

        encoder = self.packaged_encoder
        return WishParser(WishNetwork(encoder, weights)) if encoder.dimension == VECTOR else None

    @cached_property
    def tabulator(self) -> Tabulator | None:
        """Counts over the rows of tables in documents; None as `wish_parser`."""
        from agents.dialogue.tabulating import Tabulator
        from agents.models.wish_network import OF_DOCUMENTS, TotalHead

        parser = self._parser_by(OF_DOCUMENTS)
        return Tabulator(parser, TotalHead(self.packaged_encoder)) if parser else None

    @cached_property
    def query_base(self) -> Path | None:
        """The model that adapters make the query model of; None where it is not there."""
        from assistant.settings.local_models import SMOLLM2, LocalModels

        added = {model.name: model for model in LocalModels(self.given.locations.chat_models).all()}
        base = added.get(SMOLLM2.name)
        return None if base is None or base.is_link else base.path

    @property
    def query_adapters(self) -> Path:
        """The live ones, as they are served."""
        from agents.backends.query_model import SHIPPED

        folder = self._trained_folder(QUERY, self.answering(QUERY), "Follow-ups are rewritten without it")
        return folder / SHIPPED.name if folder is not None else SHIPPED

    def query_model_of(self, adapters: Path, *, threads: int = 0) -> QueryModel:
        """The one with these adapters; its base is there. threads: 0: as many as a chat spares it."""
        from agents.backends.query_model import QueryModel
        from agents.models.concurrent_runs import cores

        assert self.query_base is not None
        threads = threads or min(2, cores())  # the search needs a core for 0.1 s
        return QueryModel(self.query_base, adapters, threads=threads)

    @cached_property
    def readings(self) -> Readings:
        """What the reader says of questions and passages."""
        from agents.retrieval.reader_judge import Readings

        return Readings(self.reader)

    @cached_property
    def large_readings(self) -> Readings:
        """What the large reader says of questions and passages."""
        from agents.retrieval.reader_judge import Readings

        return Readings(self.large_reader)

    @cached_property
    def overview(self) -> OverviewQuestions:
        """Knows who asks for everything."""
        from agents.answering.overview import OverviewQuestions

        return OverviewQuestions(_LiveEncoder(self._search, is_first=True))

    @cached_property
    def sorter(self) -> MessageSorter:
        """Says what the sentences of a message do."""
        from agents.languages.message_sorting import MessageSorter

        reader = self.sorting_reader if self.given.settings.answer.reader else None
        return MessageSorter(reader, self._search.languages)

    @property
    def sorting_reader(self) -> Reader:
        """The small reader, which leaves to the heads what it cannot read."""
        return self.by_language(self.reader)

    def by_language(self, reader: Reader) -> Reader:
        from agents.languages.reader_by_language import ReaderByLanguage

        return reader if self._search.languages is None else ReaderByLanguage(reader, self._search.languages)

    @cached_property
    def memory_answers(self) -> MemoryAnswers:
        """Answers from what users told."""
        from agents.answering.memory_answers import MemoryAnswers
        from agents.languages.foreign_statements import ForeignStatements

        foreign = None
        if self._search.halves is not None and self._search.halves.languages is not None:
            foreign = ForeignStatements(self._search.halves.second, self._search.halves.languages)
        return MemoryAnswers(lambda: self.large_reader, self.sorter, foreign)

    @cached_property
    def lister(self) -> Lister | None:
        """Finds all statements that answer; None where there is no multilingual half."""
        from agents.answering.listing import Lister

        halves = self._search.halves
        if halves is None or halves.languages is None:
            return None
        return Lister(halves.second, halves.languages)

    @cached_property
    def judge(self) -> Judge:
        """What judges candidates."""
        if self.given.settings.reranking.judge == "reader":
            return self.reader_judge
        if self.given.settings.reranking.judge == "scores":
            from agents.retrieval.score_judge import ScoreJudge

            return ScoreJudge()
        if self.judges_by_trained:
            from agents.retrieval.trained_judge import TrainedJudge

            self.require_judge_model()
            return TrainedJudge(lambda: self.judge_model)
        from agents.models.cross_encoder import OnnxCrossEncoder, prepare_cross_encoder
        from agents.retrieval.cross_encoder_judge import CrossEncoderJudge

        folder = prepare_cross_encoder(
            self.given.settings.reranking.judge,
            self.given.locations.cache / "cross-encoders",
            tell=self.given.tell,
            offline=self.given.offline,
        )
        return CrossEncoderJudge(OnnxCrossEncoder(folder, threads=self.given.settings.encoder.threads))

    @property
    def judges_by_trained(self) -> bool:
        """Whether a model judges that is trained from use."""
        return self.given.settings.reranking.judge == TRAINED_JUDGE

    @property
    def judge_folder(self) -> Path:
        """Of the model that judges and is trained, as the settings name it."""
        return Path(self.given.settings.reranking.judge_model).expanduser()

    def require_judge_model(self) -> None:
        """Raises `BackendMissing` or `UnknownModel` where it cannot judge; nothing is loaded."""
        if missing := [name for name in _NEEDED_BY_JUDGE if find_spec(name) is None]:
            raise BackendMissing(
                f"reranking.judge is {TRAINED_JUDGE!r}, but {missing[0]} is not installed",
                hint="Install it with pip install 'vouch[training]', or set reranking.judge to another.",
            )
        _require_model(self.judge_folder, "reranking.judge_model")

    @property
    def judge_model(self) -> JudgeModel:
        """The live one, which another process may have changed; it loads for seconds where it was."""
        version = self.answering(JUDGE)
        made = self._judge_model
        if made is None or made[0] != version:
            self._judge_model = made = None  # two would take twice the memory
            self._judge_model = made = version, self.judge_model_with(self.judge_adapters)
        return made[1]

    @property
    def judge_adapters(self) -> Path | None:
        """Where the live ones lie; None where the model judges as it comes."""
        return self._trained_folder(JUDGE, self.answering(JUDGE), _WITHOUT_ADAPTERS)

    def judge_model_with(self, adapters: Path | None) -> JudgeModel:
        """The one with these adapters, or without any where they cannot be used, which is told."""
        from agents.models.networks.judge_model import JudgeModel, UnknownAdapters

        try:
            return JudgeModel(self.judge_folder, adapters)
        except UnknownAdapters as error:
            self.given.tell(f"{error.message}. {_WITHOUT_ADAPTERS}. {error.hint}")
            return JudgeModel(self.judge_folder)

    def voting_model(self) -> Judge:
        """The further model that votes where nobody rated, which is loaded. Raises `UnknownModel`."""
        from agents.models.networks.judge_model import JudgeModel
        from agents.retrieval.cross_encoder_judge import CrossEncoderJudge

        folder = Path(self.given.settings.learning.vote_model).expanduser()
        _require_model(folder, "learning.vote_model")
        return CrossEncoderJudge(JudgeModel(folder))

    @property
    def reranker(self) -> Reranker:
        """Orders what was found."""
        return self.reranker_by(self.judge)

    def reranker_by(self, judge: Judge) -> Reranker:
        """The same with another judge."""
        from agents.retrieval.reader_judge import READER_USELESS_BELOW
        from agents.retrieval.reranker import Reranker

        reranking = self.given.settings.reranking
        reads = reranking.judge == "reader"
        is_set = self.given.settings.origin("reranking.min_judged") != DEFAULT
        return Reranker(
            judge,
            schedule=reranking.schedule,
            budget=reranking.budget,
            min_judged=reranking.min_judged,
            min_judged_told=_MIN_JUDGED_TOLD if reads and not is_set else 0,
            order="classes" if reranking.order == "classes" else "mixed",
            relevance=lambda: self.relevance,
            useless_below=READER_USELESS_BELOW if reads else 0.0,
        )

    @property
    def judge_of_candidates(self) -> Judge:
        """The judge of turns, unless that goes by a retriever's own scores: none is to judge itself."""
        return self.judge if self.given.settings.reranking.judge != "scores" else self.reader_judge

    @property
    def reader_judge(self) -> Judge:
        """The small reader as a judge."""
        from agents.retrieval.reader_judge import ReaderJudge

        return ReaderJudge(self.readings, self._search.languages)

    @property
    def chat_judge(self) -> Judge:
        """The server's model that writes the replies, as a judge."""
        from agents.backends.openai.chat import OpenAIChat
        from agents.retrieval.chat_judge import ChatJudge
        from assistant.scale.spread import workers_of

        model, scale = self.model_in_use, self.given.settings.scale

        def made() -> ClosingChat:
            chat = self.chat_model_of(model)
            assert isinstance(chat, OpenAIChat), "it asks a server"
            return chat

        return ChatJudge(
            made,
            name=f"{model.name} at {without_secrets(model.base_url)}",
            at_once=1 if scale.engine == "here" else workers_of(scale),
        )

    def trained_in_use(self) -> dict[str, str]:
        """By role, the versions of models that were trained here and answer now."""
        versions = {model.role: self.answering(model) for model in (DIALOGUE, QUERY, ENTITIES)}
        versions[RELEVANCE.role] = self.answering(RELEVANCE) if self.orders_by_weights else ""
        versions[JUDGE.role] = self.answering(JUDGE) if self.judges_by_trained else ""
        searching = self._search.searching
        versions[RETRIEVER.role], versions[COLLECTIONS.role] = searching.trained_queries, searching.adapters
        return {role: version for role, version in versions.items() if version not in ("", SHIPPED)}

    @property
    def model_in_use(self) -> ModelSettings:
        """Which model writes the replies: the settings', unless another one was chosen since."""
        return self._chosen_model or self.given.settings.model

    def use(self, model: ModelSettings, chat_model: ChatModel) -> None:
        """From now on this one writes the replies."""
        self._chosen_model = model
        self.__dict__["chat_model"] = chat_model

    @cached_property
    def chat_model(self) -> ChatModel:
        """The model that writes the replies."""
        return self.chat_model_of(self.model_in_use)

    def chat_model_of(self, model: ModelSettings) -> ChatModel:
        """The model that these settings name; made anew."""
        if model.backend == "openai":
            from agents.backends.openai.chat import OpenAIChat
            from agents.backends.openai.client import is_on_this_machine
            from agents.backends.openai.habits import KnownHabits

            if self.given.offline and not is_on_this_machine(model.base_url):
                raise ModelUnreachable(
                    f"--offline keeps Vouch from asking {without_secrets(model.base_url)}",
                    hint="Leave --offline out, or set model.backend to extractive.",
                )
            # a server has defaults of its own, and may refuse other values
            return OpenAIChat(
                base_url=model.base_url,
                model=model.name,
                protocol=model.protocol,
                images={"yes": True, "no": False}.get(model.images),
                api_key=self._key_for(model),
                timeout_seconds=model.timeout_seconds,
                first_word_seconds=max(model.first_word_seconds, model.timeout_seconds),
                max_retries=model.retries,
                max_tokens=model.max_tokens if self._is_set_of(model, "max_tokens") else None,
                temperature=model.temperature if self._is_set_of(model, "temperature") else None,
                context_tokens=model.context_tokens,
                parameters=self._parameters(model),
                headers=model.extra_headers.read(),
                counts_tokens=True,
                habits=KnownHabits(self.given.locations.cache / "servers.json"),
            )
        if model.backend == "llamacpp":
            from agents.backends.llamacpp_chat import LlamaCppChat
            from agents.models.concurrent_runs import cores

            return LlamaCppChat(
                Path(model.path).expanduser(),
                threads=max(1, cores() - 1),  # one for the screen
                max_tokens=model.max_tokens,
                temperature=model.temperature,
                context_tokens=model.context_tokens,
                loading_seconds=model.timeout_seconds,
                parameters=self._parameters(model),
            )
        if model.backend == "transformers":
            from agents.backends.transformers_chat import TransformersChat

            return TransformersChat(
                model.name,
                max_tokens=model.max_tokens,
                temperature=model.temperature,
                context_tokens=model.context_tokens,
                offline=self.given.offline,
            )
        if model.backend == "vllm":
            from agents.backends.vllm_chat import VllmChat

            return VllmChat(
                model.name,
                max_tokens=model.max_tokens,
                temperature=model.temperature,
                context_tokens=model.context_tokens,
                offline=self.given.offline,
            )
        from agents.answering.calculating import Calculator
        from agents.answering.quoting import Quoter
        from agents.backends.extractive import ExtractiveChat

        is_read = self.given.settings.answer.reader
        return ExtractiveChat(
            Quoter(
                _LiveEncoder(self._search, is_first=True),
                threshold=self.given.settings.answer.threshold,
                quotes=self.given.settings.answer.sentences,
                readings=self.readings if is_read else None,
                rereadings=(lambda: self.large_readings) if is_read else None,
                languages=self._search.languages,
                across=_LiveEncoder(self._search),
            ),
            memory=self.memory_answers if is_read else None,
            overview=self.overview,
            calculator=Calculator(_LiveEncoder(self._search, is_first=True)),
            sorter=self.sorter,
            languages=self._search.languages,
            lister=self.lister if is_read else None,
        )

    def _parameters(self, model: ModelSettings) -> dict[str, object]:
        named = {name: getattr(model, name) for name in _OF_SERVERS if self._is_set_of(model, name)}
        stop = model.stop.read()
        return {**named, **({"stop": stop} if stop else {}), **model.extra_body.read()}

    def _key_for(self, model: ModelSettings) -> str:
        """The key of a model's server, and of no other."""
        import os

        from assistant.settings.identity import key_for

        settings = self.given.settings
        is_of_settings = settings.section_of(model) == settings.section_of(settings.model)
        return self.given.api_key if is_of_settings else key_for(settings, model, os.environ)

    def _is_set_of(self, model: ModelSettings, name: str) -> bool:
        """Whether a value of a model stands in the settings."""
        settings = self.given.settings
        return f"{settings.section_of(model)}.{name}" in settings.origins

    def close(self) -> None:
        if self._query_model is not None:
            self._query_model[1].close()

    def listed_models(self) -> list[str]:
        """The models that the server of the settings lists; empty where there is none, or it does not tell.

        Takes some seconds at most; not for a thread with an event loop.
        """
        if self.given.settings.model.backend != "openai":
            return []
        import asyncio

        from agents.backends.openai.chat import OpenAIChat

        chat = self.chat_model_of(self.given.settings.model)
        assert isinstance(chat, OpenAIChat), "it asks a server"

        async def listed() -> list[str]:
            try:
                return await chat.model_names()
            finally:
                await chat.aclose()

        return asyncio.run(listed())


class _LiveEncoder:
    """Whichever encoder is live at the moment, or its first half, as one `Encoder`."""

    def __init__(self, search: Search, *, is_first: bool = False) -> None:
        self._search, self._is_first = search, is_first

    @property
    def _encoder(self) -> Encoder:
        from agents.models.encoders.two_halves import first_half

        return first_half(self._search.encoder) if self._is_first else self._search.encoder

    @property
    def version(self) -> str:
        return self._encoder.version

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)


def _reader(folder: Path, threads: int) -> OnnxReader:
    from agents.models.reader import OnnxReader

    return loaded("reader", folder, threads, lambda: OnnxReader(folder, threads=threads))
