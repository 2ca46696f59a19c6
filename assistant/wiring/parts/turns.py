"""A turn, what is remembered after it, and the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from assistant.wiring.parts.given import Given
from assistant.wiring.parts.models import Models
from assistant.wiring.parts.search import Search
from assistant.wiring.parts.stores import Stores
from assistant.wiring.parts.trained import COLLECTIONS, DIALOGUE, ENTITIES, JUDGE, QUERY, RELEVANCE, RETRIEVER

if TYPE_CHECKING:
    from agents.answering.responder import Prompt, Responder
    from agents.base.chat_interfaces import ChatModel, Tabulated, Tokens
    from agents.dialogue.chat_wish_parser import ChatWishParser
    from agents.dialogue.reply_writer import ReplyWriter
    from agents.languages.standing import Secrets
    from assistant.background.priority import AnswersFirst
    from assistant.library.ingest import Ingest
    from assistant.remembering.remembering import Remembering
    from assistant.remembering.weighing import Agents
    from assistant.settings.config import ModelSettings
    from assistant.turns.host import TurnHost
    from assistant.turns.knowledge_talk import KnowledgeTalk
    from assistant.turns.memory_talk import MemoryTalk
    from assistant.turns.pipeline import TurnPipeline
    from stores.base.passages import Passage
    from stores.database.tables import Turn


class Turns:
    """What answers messages, and what learns knowledge from them."""

    def __init__(self, given: Given, stores: Stores, search: Search, models: Models) -> None:
        self.given, self._stores, self._search, self._models = given, stores, search, models
        self._asked_for_wishes: ChatWishParser | None = None

    @cached_property
    def pipeline(self) -> TurnPipeline:
        """Answers messages."""
        from assistant.turns.pipeline import TurnPipeline

        return TurnPipeline(
            journal=self._stores.journal,
            searching=lambda: self._search.searching,
            memory=self.memory_talk,
            responder=self._responder_with(self._models.chat_model),
            cut=self._cut,
            learns=self.given.settings.memory.learn,
            answers_first=self.answers_first,
            server=self._models.model_in_use.server,
            sorter=self._models.sorter,
            documents_called=self._stores.library.called,
            quoting=lambda: self._quoting,
            knowledge=self.knowledge_talk,
            trained=self._models.trained_in_use,
        )

    def trained_behind(self, user_id: int, turn: Turn) -> dict[str, int]:
        """By role, the rounds whose models an answer hangs on: not all that were live then."""
        from stores.conversation.turn_models import REWRITTEN, models_of

        models = models_of(self._stores.database, user_id, turn.id or 0)
        over = turn.details.get("knowledge_base", {})
        used = {
            RETRIEVER.role: bool(models.encoder_version),
            COLLECTIONS.role: bool(models.encoder_version) and not over,
            RELEVANCE.role: bool(models.judges) and not over,
            JUDGE.role: bool(models.judges) and not over,
            QUERY.role: models.strategy == REWRITTEN,
            ENTITIES.role: bool(over),
            DIALOGUE.role: over.get("is_generated", False),
        }
        return {role: number for role, number in models.trained.items() if used.get(role)}

    @property
    def _cut(self) -> Callable[[str], Sequence[str]]:
        from assistant.library.cutting import cut

        return partial(cut, whole_up_to_words=200)

    def _tabulated(self, message: str, passages: Sequence[Passage]) -> Tabulated | None:
        tabulator = self._models.tabulator
        return tabulator.answer(message, passages) if tabulator else None

    @property
    def memory_talk(self) -> MemoryTalk:
        """Finds what messages are answered from."""
        from agents.retrieval.own_statements import OwnStatements
        from agents.retrieval.query_augmenter import QueryAugmenter
        from assistant.turns.memory_talk import MemoryTalk
        from stores.versions.provenance import messages_behind

        return MemoryTalk(
            self._stores.journal,
            augmenter=QueryAugmenter(
                lambda: self._models.query_model,
                seconds=self.given.settings.answer.rewrite_milliseconds / 1000,
                only_states=lambda message: self._models.sorter.sorted(message).only_states,
            ),
            reranker=self._models.reranker,
            cut=self._cut,
            history_turns=self.given.settings.answer.history_turns,
            settled=self._stores.claims.settled_words,
            own_statements=OwnStatements(languages=self._search.languages)
            if self.given.settings.answer.reader
            else None,
            messages_behind=partial(messages_behind, self._stores.database),
            sorter=self._models.sorter,
            asks_for_outline=self._models.overview.asks_for_outline,
            secrets=self._secrets,
            asked_in=self._stores.sessions.system,
            summary_of=self._stores.summaries.of,
            tabulated=self._tabulated,
        )

    @cached_property
    def knowledge_talk(self) -> KnowledgeTalk:
        """Finds and answers in sessions that are about a knowledge base."""
        from agents.prompts import entities
        from assistant.turns.knowledge_talk import KnowledgeTalk

        prompt = partial(entities.messages, examples=self.given.settings.answer.examples)
        return KnowledgeTalk(
            self._stores.knowledge_bases,
            self._models.entity_search,
            self._stores.sessions,
            quoting=lambda: self._entity_responder,
            writing=lambda: None if self._quotes else self._responder_with(self._models.chat_model, prompt),
            told=self._models.memory_answers.answers,
            reads=lambda: self._models.wish_parser,
            asks=self._chat_wish_parser,
            history_turns=self.given.settings.answer.history_turns,
        )

    def _chat_wish_parser(self) -> ChatWishParser | None:
        if self._quotes or self.given.settings.memory.agents == "reader":
            return None
        from agents.dialogue.chat_wish_parser import ChatWishParser

        chat = self._models.chat_model
        if self._asked_for_wishes is None or self._asked_for_wishes.chat is not chat:
            self._asked_for_wishes = ChatWishParser(chat)
        return self._asked_for_wishes

    @cached_property
    def _entity_responder(self) -> Responder:
        from agents.dialogue.entity_replies import EntityReplies
        from agents.models.encoders.two_halves import first_half

        writer = (lambda: self._reply_writer) if self.given.settings.answer.generator else None
        return self._responder_with(
            EntityReplies(lambda: first_half(self._search.searching.encoder), self._models.sorter, writer)
        )

    @property
    def _reply_writer(self) -> ReplyWriter:
        from agents.dialogue.reply_writer import ReplyWriter

        return ReplyWriter(self._models.dialogue_generator, self._models.spoken)

    @property
    def _quotes(self) -> bool:
        return self._models.model_in_use.backend == "extractive"

    def answer_with(self, model: ModelSettings) -> None:
        """From the next turn on, this model answers, and weighs where a chat model does; until the end.

        Not while a turn is played. One that was in use before is taken up again as it is.
        """
        known = self._models_by_choice
        known.setdefault(self._models.model_in_use, self._models.chat_model)
        if model not in known:
            known[model] = self._models.chat_model_of(model)
        self.pipeline.answer_with(self._responder_with(known[model]), server=model.server)
        self._models.use(model, known[model])
        self.__dict__.pop("_remembering_agents", None)  # they are made anew, with this model or with none

    @property
    def used_tokens(self) -> Tokens:
        """What servers counted of all requests so far, of every model that answered here."""
        from agents.base.chat_interfaces import Tokens

        models = {id(model): model for model in (*self._models_by_choice.values(), self._models.chat_model)}
        return sum((getattr(model, "used", Tokens()) for model in models.values()), Tokens())

    @cached_property
    def _models_by_choice(self) -> dict[ModelSettings, ChatModel]:
        return {}

    @property
    def _quoting(self) -> Responder | None:
        if self._quotes:
            return None
        return self._responder_with(self._extractive)

    @cached_property
    def _extractive(self) -> ChatModel:
        return self._models.chat_model_of(replace(self._models.model_in_use, backend="extractive"))

    def _responder_with(self, chat_model: ChatModel, prompt: Prompt | None = None) -> Responder:
        from agents.answering.responder import Responder
        from agents.prompts import answer

        return Responder(
            chat_model,
            keep=self.given.settings.answer.passages,
            reply_tokens=self.given.settings.model.max_tokens,
            system=lambda: self.given.settings.answer.system,
            prompt=prompt or answer.messages,
        )

    @cached_property
    def remembering(self) -> Remembering:
        """Works off what turns have left to remember."""
        from assistant.remembering.remembering import Remembering

        return Remembering(
            claims=self._stores.claims,
            jobs=self._stores.claim_jobs,
            agents=lambda: self._remembering_agents,
            searching=lambda: self._search.searching,
            answers_first=self.answers_first,
            summaries=self._stores.summaries,
            summing=self._summing_chat,
            withheld=lambda messages: self._secrets.withheld(messages),
        )

    @cached_property
    def _secrets(self) -> Secrets:
        from agents.languages.standing import Secrets

        return Secrets(self._search.languages)

    def _summing_chat(self) -> ChatModel | None:
        from assistant.background.chat_model import BackgroundChat

        return None if self._quotes else BackgroundChat(self._weighing_model, self.answers_first)

    @cached_property
    def host(self) -> TurnHost:
        """Plays the turns of all who talk to it."""
        from assistant.turns.host import TurnHost

        return TurnHost(self.pipeline, lambda: self.remembering)

    @cached_property
    def ingest(self) -> Ingest:
        """Stores documents."""
        from assistant.library.ingest import Ingest

        return Ingest(
            self._stores.stored_documents,
            lambda: self._search.spread(self._search.encoder),
            lambda: self._search.indexer,
            self._search.texts_at_once,
        )

    def close(self) -> None:
        if "host" in self.__dict__:
            self.host.close()

    @cached_property
    def answers_first(self) -> AnswersFirst:
        """Has what can wait do so while an answer is given."""
        from assistant.background.priority import AnswersFirst

        return AnswersFirst()

    @property
    def _weighing_model(self) -> ChatModel:
        """The chat model that weighs what was stated: one of its own, or the one that answers."""
        named = self.given.settings.memory.model
        if not named:
            return self._models.chat_model
        model = self.given.settings.models[named]
        if model not in self._models_by_choice:
            self._models_by_choice[model] = self._models.chat_model_of(model)
            self.pipeline.closes_too(self._responder_with(self._models_by_choice[model]))
        return self._models_by_choice[model]

    @cached_property
    def _remembering_agents(self) -> Agents:
        from agents.memory.classifier import Classifier
        from agents.memory.reader_curator import ReaderCurator
        from agents.memory.reader_discriminator import ReaderDiscriminator
        from agents.memory.reader_summarizer import ReaderSummarizer
        from assistant.remembering.weighing import Agents

        memory, reader = self.given.settings.memory, self._models.sorting_reader
        writes = bool(memory.model) or self._models.model_in_use.backend != "extractive"
        by_model = memory.agents != "reader" and writes
        classifier, curator = (
            Classifier(shared_from=memory.shared_from),
            ReaderCurator(
                self._models.by_language(self._models.large_reader),
                self._models.by_language(self._models.reader),
            ),
        )
        if by_model:
            from agents.memory.chat_curator import ChatCurator
            from agents.memory.chat_discriminator import ChatDiscriminator
            from agents.memory.chat_summarizer import ChatSummarizer
            from agents.memory.probed_summarizer import ProbedSummarizer
            from assistant.background.chat_model import BackgroundChat

            weighs = self._weighing_model
            chat = BackgroundChat(weighs, self.answers_first)
            asked = BackgroundChat(weighs, self.answers_first, again=False)
            finds = ChatSummarizer(asked, reader, self._search.languages)
            by_reader = ReaderSummarizer(reader, self._search.languages)
            kept = self.given.locations.data / "summarizers.json"
            is_probed = memory.agents == "auto"  # else it was chosen by hand
            return Agents(
                ProbedSummarizer(asked, finds, by_reader, kept=kept) if is_probed else finds,
                ChatDiscriminator(chat, ReaderDiscriminator(reader)),
                classifier,
                ChatCurator(chat, curator),
            )
        return Agents(
            ReaderSummarizer(reader, self._search.languages), ReaderDiscriminator(reader), classifier, curator
        )
