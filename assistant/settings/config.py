"""The settings: what can be set, what each value may be, and what it is by default.

Sections are checked where they are declared. `assistant/settings/settings_file.py` reads them from the file.
Nothing here is heavy: `vouch --help` may import this file, so what only some calls need is imported
inside them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from assistant.settings.themes import THEMES, nearest_theme
from stores.base.errors import InvalidSetting
from stores.base.secrets import HIDDEN, hidden, secret_words, without_secrets

DEFAULT = "default"  # the origin of what nobody set

_SCHEDULES = ("single", "multi", "every_5", "every_20")
_ORDERS = ("learned", "mixed", "classes")
_BACKENDS = ("extractive", "openai", "llamacpp", "transformers", "vllm")
_PROTOCOLS = ("auto", "chat", "responses")
_IMAGES = ("auto", "yes", "no")
_INDEXES = ("auto", "exact", "chroma", "faiss")
_SIDES = ("query", "both", "auto")
_OF_LOSSES = {
    "strict_denominator": ("exclude_own_relevant", "all"),
    "flaccid_support": ("judged", "relevant"),
    "rank_weights": ("log", "reciprocal"),
    "hard_positives": ("mean", "best", "random"),
}
_OURS = frozenset(("messages", "model", "stream", "input", "instructions"))  # of a request
_WEIGHERS = ("auto", "reader", "model")
_LEVELS = ("debug", "info", "warning", "error")
_ADDRESSES = frozenset(("model.base_url", "store.url", "index.url"))
_SECRETIVE = frozenset(("model.extra_body", "model.extra_headers"))


class InvalidSection(InvalidSetting):
    """Values of one section that Vouch cannot run with: reads as the first of them, and holds all."""

    def __init__(self, problems: Sequence[InvalidSetting]) -> None:
        first = problems[0]
        super().__init__(first.key, first.found, first.expected)
        self.problems = tuple(problems)


def _require(*rules: tuple[str, object, bool, str]) -> None:
    """Each rule is a key, the value found, whether it will do, and what would."""
    broken = [InvalidSetting(key, found, expected) for key, found, holds, expected in rules if not holds]
    if broken:
        raise InvalidSection(broken)


class Json(str):
    """A list or a section of the file, as JSON: text can be compared, and nobody changes it."""

    __slots__ = ()

    def read(self) -> Any:
        """What it holds."""
        return json.loads(self)


_NO_LIST, _NO_SECTION = Json("[]"), Json("{}")


def _are_texts(values: Iterable[object], *, of_headers: bool = False) -> bool:
    return all(
        isinstance(value, str) and value and (not of_headers or (value.isascii() and value.isprintable()))
        for value in values
    )


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which model writes the replies: [model]."""

    # quotes passages, asks a server, or runs a model on this machine
    backend: Literal["extractive", "openai", "llamacpp", "transformers", "vllm"] = "extractive"
    base_url: str = ""  # of a server that speaks one of OpenAI's protocols, up to and with /v1
    protocol: Literal["auto", "chat", "responses"] = "auto"  # auto: chat, unless it has the other alone
    name: str = ""  # what that server calls the model; in this process its folder, or its name on the hub
    path: str = ""  # of the GGUF file that llama.cpp runs
    key_file: str = ""  # holds the server's key and nothing else; mode 0600
    timeout_seconds: float = 60.0  # without a further word from the server, and while a model of a file loads
    first_word_seconds: float = 600.0  # until a server's first word: it may load its model first
    retries: int = 4  # after the first try
    max_tokens: int = 1024  # of one reply
    context_tokens: int = 0  # of prompt and reply together; 0 takes what the model or its server says
    images: Literal["auto", "yes", "no"] = "auto"  # whether it takes them; auto asks its server
    temperature: float = 0.2  # 0 always takes the likeliest word
    top_p: float = 1.0  # the share of likely words that are drawn from; a server's alone, as the next two
    seed: int = 0  # of what is drawn
    reasoning_effort: str = ""  # how long a model thinks, in its server's words, such as "low"
    price_sent: float = 0.0  # of a million tokens, in any currency; with it or the next, a server counts them
    price_written: float = 0.0
    stop: Json = _NO_LIST  # texts that end a reply
    # further parameters of a request, by the server's names, and what is sent with each; may hold keys
    extra_body: Json = field(default=_NO_SECTION, repr=False)
    extra_headers: Json = field(default=_NO_SECTION, repr=False)

    @property
    def server(self) -> str:
        """The host that is asked, with the port it names; empty where Vouch runs the model itself."""
        after = self.base_url.partition("://")[2]
        return re.split(r"[/?#]", after, maxsplit=1)[0] if self.backend == "openai" else ""

    @property
    def secrets(self) -> list[str]:
        """What it sends that may be a key, and is not to be shown."""
        return [*secret_words([self.extra_body.read(), self.extra_headers.read()])]

    def cost(self, sent: int, written: int) -> float:
        """Of so many tokens."""
        return (sent * self.price_sent + written * self.price_written) / 1e6

    @property
    def label(self) -> str:
        """What the model is called on screen."""
        return Path(self.path).stem if self.backend == "llamacpp" else self.name

    def __post_init__(self) -> None:
        if self.base_url:
            address = "an address that starts with http:// or https:// and holds no user or password"
        else:
            address = "the server's address when model.backend is 'openai'"
        asks_server = self.backend == "openai"
        has_room = self.context_tokens == 0 or self.context_tokens > self.max_tokens
        absolute = self.key_file.startswith(("/", "~/"))
        _require(
            ("model.backend", self.backend, self.backend in _BACKENDS, _one_of(_BACKENDS)),
            (
                "model.base_url",
                without_secrets(self.base_url),
                _is_web_address(self.base_url) if self.base_url else not asks_server,
                address,
            ),
            ("model.protocol", self.protocol, self.protocol in _PROTOCOLS, _one_of(_PROTOCOLS)),
            (
                "model.name",
                self.name,
                bool(self.name) or self.backend not in ("openai", "transformers", "vllm"),
                f"set when model.backend is {self.backend!r}",
            ),
            (
                "model.path",
                self.path,
                self.path.startswith(("/", "~/")) or not (self.path or self.backend == "llamacpp"),
                "a path from / or ~/, set when model.backend is 'llamacpp'",
            ),
            ("model.key_file", HIDDEN, absolute or not self.key_file, "a path from / or ~/, and no key"),
            ("model.timeout_seconds", self.timeout_seconds, 0 < self.timeout_seconds < 1e6, "above 0"),
            (
                "model.first_word_seconds",
                self.first_word_seconds,
                0 < self.first_word_seconds < 1e6,
                "above 0",
            ),
            ("model.retries", self.retries, 0 <= self.retries <= 100, "between 0 and 100"),
            ("model.max_tokens", self.max_tokens, self.max_tokens >= 1, "1 or more"),
            (
                "model.context_tokens",
                self.context_tokens,
                has_room,
                f"0, or above model.max_tokens, which is {self.max_tokens}",
            ),
            ("model.images", self.images, self.images in _IMAGES, _one_of(_IMAGES)),
            ("model.temperature", self.temperature, 0 <= self.temperature <= 2, "between 0 and 2"),
            ("model.price_sent", self.price_sent, 0 <= self.price_sent < 1e6, "0 or more"),
            ("model.price_written", self.price_written, 0 <= self.price_written < 1e6, "0 or more"),
            ("model.stop", self.stop, _are_texts(self.stop.read()), 'a list of texts, such as ["END"]'),
            (
                "model.extra_body",
                fit_to_show("model.extra_body", self.extra_body),
                _OURS.isdisjoint(self.extra_body.read()),
                f"a section without {', '.join(sorted(_OURS))}, which are Vouch's to say",
            ),
            (
                "model.extra_headers",
                fit_to_show("model.extra_headers", self.extra_headers),
                _are_texts(self.extra_headers.read().values(), of_headers=True),
                "a section whose values are text that a header can carry",
            ),
            ("model.top_p", self.top_p, 0 < self.top_p <= 1, "above 0, and at most 1"),
        )


NO_SECOND_HALF = "none"
MULTILINGUAL_HALF = "multilingual"


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """What turns text into vectors: [encoder]."""

    source: str = ""  # a folder, or a name on the hub; empty is the MiniLM that comes with Vouch
    second: str = ""  # of a second half; empty is the multilingual one beside that MiniLM, "none" is none
    second_share: float = 0.3  # the second half's share of what is stored; questions choose their own
    threads: int = 0  # 0 takes all cores

    def __post_init__(self) -> None:
        _require(
            (
                "encoder.second_share",
                self.second_share,
                0.01 <= self.second_share <= 0.99,
                "between 0.01 and 0.99",
            ),
            ("encoder.threads", self.threads, self.threads >= 0, "0 (all cores) or more"),
        )

    @property
    def second_source(self) -> str:
        """Where the second half comes from; empty for none."""
        if self.second:
            return "" if self.second == NO_SECOND_HALF else self.second
        return "" if self.source else MULTILINGUAL_HALF


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """How passages are found: [retrieval]."""

    candidates: int = 40  # how many go on to the reranker
    pool: int = 100  # how many each signal contributes
    dense_weight: float = 0.5  # the dense signal's share of the mix; the lexical one has the rest
    document_lift: float = 0.0  # the share of the better neighbour's score that a document's passage gains
    conversation_lift: float = 0.4  # the same for what was said in a conversation
    reply_lift: float = 0.7  # the share of a question's score that another speaker's reply to it gains
    speaker_bonus: float = 0.15  # what a message gains whose speaker is named in the question
    time_bonus: float = 0.1  # what a message gains that tells a time, when the question asks for one
    exact_up_to: int = 50_000  # shared passages; with more, the search of them is approximate

    def __post_init__(self) -> None:
        _require(
            ("retrieval.candidates", self.candidates, self.candidates >= 1, "1 or more"),
            ("retrieval.pool", self.pool, self.pool >= 1, "1 or more"),
            ("retrieval.dense_weight", self.dense_weight, 0 <= self.dense_weight <= 1, "between 0 and 1"),
            ("retrieval.document_lift", self.document_lift, 0 <= self.document_lift <= 1, "between 0 and 1"),
            *(
                (f"retrieval.{name}", value, 0 <= value <= 1, "between 0 and 1")
                for name, value in (
                    ("conversation_lift", self.conversation_lift),
                    ("reply_lift", self.reply_lift),
                    ("speaker_bonus", self.speaker_bonus),
                    ("time_bonus", self.time_bonus),
                )
            ),
            ("retrieval.exact_up_to", self.exact_up_to, self.exact_up_to >= 0, "0 or more"),
        )


TRAINED_JUDGE = "trained"


@dataclass(frozen=True, kw_only=True)
class RerankingSettings:
    """How candidates are judged: [reranking]."""

    # reads them; "scores" goes by how they were found, "trained" is judge_model; else a cross-encoder's name
    judge: str = "reader"
    judge_model: str = ""  # the folder of a language model or cross-encoder, trained from use
    schedule: Literal["single", "multi", "every_5", "every_20"] = "multi"  # how many go in one call
    budget: int = 40  # candidates judged for one question, at most
    min_judged: int = 9  # candidates judged before judging may stop early
    order: Literal["learned", "mixed", "classes"] = "mixed"  # by learned weights, both scores, or verdicts
    judge_share: float = 0.5  # of the mixed score, the judge's part

    def __post_init__(self) -> None:
        _require(
            ("reranking.judge", self.judge, bool(self.judge.strip()), "reader, scores, trained, or a name"),
            (
                "reranking.judge_model",
                self.judge_model,
                self.judge_model.startswith(("/", "~/"))
                or not (self.judge_model or self.judge == TRAINED_JUDGE),
                "a path from / or ~/, set when reranking.judge is 'trained'",
            ),
            ("reranking.schedule", self.schedule, self.schedule in _SCHEDULES, _one_of(_SCHEDULES)),
            ("reranking.budget", self.budget, self.budget >= 1, "1 or more"),
            ("reranking.min_judged", self.min_judged, self.min_judged >= 0, "0 or more"),
            ("reranking.order", self.order, self.order in _ORDERS, _one_of(_ORDERS)),
            ("reranking.judge_share", self.judge_share, 0 <= self.judge_share <= 1, "between 0 and 1"),
        )


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """What an answer is made of: [answer]."""

    passages: int = 5  # put before the model
    history_turns: int = 6  # earlier turns put before the model
    sentences: int = 3  # quoted by the extractive backend, at most
    threshold: float = 0.3  # best score below it: the extractive backend is not sure, and shows the nearest
    reader: bool = True  # the extractive backend has the passages read for the answer
    system: str = ""  # what a chat model is asked of all its answers, such as a tone or a role
    generator: bool = True  # replies over a knowledge base are generated; false quotes its entities
    examples: bool = True  # a chat model that talks over a knowledge base is shown three examples
    warm_minutes: float = 0.0  # a process waits so long to answer the next `vouch ask`; 0: none does
    rewrite_milliseconds: float = 400.0  # that smollm2, if it was added, has to make a follow-up stand alone

    def __post_init__(self) -> None:
        _require(
            ("answer.passages", self.passages, self.passages >= 1, "1 or more"),
            ("answer.history_turns", self.history_turns, self.history_turns >= 0, "0 or more"),
            ("answer.sentences", self.sentences, self.sentences >= 1, "1 or more"),
            ("answer.threshold", self.threshold, 0 <= self.threshold <= 1, "between 0 and 1"),
            ("answer.warm_minutes", self.warm_minutes, 0 <= self.warm_minutes <= 1440, "between 0 and 1440"),
            (
                "answer.rewrite_milliseconds",
                self.rewrite_milliseconds,
                self.rewrite_milliseconds >= 0,
                "0 or more; 0 rewrites nothing",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """What becomes of what users state: [memory]."""

    learn: bool = True  # what a message states is weighed and remembered; false keeps the message alone
    agents: Literal["auto", "reader", "model"] = "auto"  # who weighs: auto is the chat model where one is set
    model: str = ""  # of [models.NAME], which weighs in place of the one that answers
    shared_from: float = 0.9  # confidence from which a verified fact goes to the shared memory
    curators: str = ""  # names of users, spaces between, who may decide proposals for the shared memory

    def __post_init__(self) -> None:
        _require(
            ("memory.agents", self.agents, self.agents in _WEIGHERS, _one_of(_WEIGHERS)),
            ("memory.shared_from", self.shared_from, 0 <= self.shared_from <= 1, "between 0 and 1"),
        )


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """How Vouch learns to find better from what was judged: [learning]."""

    in_chat: bool = True  # an open chat learns in the background; false leaves it to `vouch train`
    fewest_lessons: int = 100  # without which no round is begun; by itself: 30 held out with an answer too
    new_lessons: int = 100  # judged since the last round, with which one starts automatically
    hours: float = 0.0  # since the last round, after which one begins with fewer; 0 is never
    update_side: Literal["query", "both", "auto"] = "query"  # what is trained; auto goes by the corpus' size
    judge_votes: bool = False  # a judge that is trained learns of unrated questions too, by a vote
    vote_model: str = ""  # the folder of another model that votes; as of reranking.judge_model
    collections: bool = False  # they learn, each an adapter of the encoder; see `vouch train`
    both_up_to: int = 50_000  # passages up to which auto trains both sides: they are all encoded anew
    epochs: int = 4  # times that each lesson is seen, at most
    learning_rate: float = 1e-5
    seed: int = 1
    threads: int = 1  # of the processor, for the training
    least_gain: float = 0.0  # that the whole interval must lie above, as a share
    margin: float = 0.01  # loss that no domain's and no month's questions may exceed, as a share

    def __post_init__(self) -> None:
        _require(
            ("learning.fewest_lessons", self.fewest_lessons, self.fewest_lessons >= 1, "1 or more"),
            ("learning.new_lessons", self.new_lessons, self.new_lessons >= 1, "1 or more"),
            ("learning.hours", self.hours, 0 <= self.hours < 1e6, "0 (never) or more"),
            ("learning.update_side", self.update_side, self.update_side in _SIDES, _one_of(_SIDES)),
            (
                "learning.vote_model",
                self.vote_model,
                not self.vote_model or self.vote_model.startswith(("/", "~/")),
                "a path from / or ~/, or empty",
            ),
            ("learning.both_up_to", self.both_up_to, self.both_up_to >= 0, "0 or more"),
            ("learning.epochs", self.epochs, self.epochs >= 1, "1 or more"),
            ("learning.learning_rate", self.learning_rate, self.learning_rate > 0, "above 0"),
            ("learning.threads", self.threads, self.threads >= 1, "1 or more"),
            ("learning.least_gain", self.least_gain, 0 <= self.least_gain <= 1, "between 0 and 1"),
            ("learning.margin", self.margin, 0 <= self.margin <= 1, "between 0 and 1"),
        )


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """By which losses and steps a round trains the retriever: [training]. As `RetrieverTraining`."""

    batch_questions: int = 16
    patience: int = 1  # epochs without a better figure on the held-out share, after which it ends
    warm_up: float = 0.1  # share of the steps in which the learning rate rises
    weight_decay: float = 0.01
    longest_gradient: float = 1.0  # its norm; a longer one is shortened
    bf16: bool = False  # products in 16 bits

    strict_weight: float = 1.0  # 0 switches a loss off
    flaccid_weight: float = 0.5
    hard_weight: float = 1.0
    temperature: float = 0.05  # of similarities
    judge_temperature: float = 0.2  # of the judge's scores
    margin: float = 0.1  # between an answer and a hard negative, in cosine
    strict_denominator: Literal["exclude_own_relevant", "all"] = "exclude_own_relevant"
    flaccid_support: Literal["judged", "relevant"] = "judged"
    rank_weights: Literal["log", "reciprocal"] = "log"  # of hard negatives
    hard_positives: Literal["mean", "best", "random"] = "mean"
    most_negatives: int = 8  # of a question, that hard negatives are taken from

    def __post_init__(self) -> None:
        weights = {name: getattr(self, f"{name}_weight") for name in ("strict", "flaccid", "hard")}
        some_loss = any(weight > 0 for weight in weights.values())
        _require(
            *(
                (f"training.{name}", value, value >= 1, "1 or more")
                for name in ("batch_questions", "patience", "most_negatives")
                for value in [getattr(self, name)]
            ),
            ("training.warm_up", self.warm_up, 0 <= self.warm_up <= 1, "between 0 and 1"),
            *(
                (f"training.{name}", value, 0 < value < 1e6, "above 0")
                for name in ("longest_gradient", "temperature", "judge_temperature")
                for value in [getattr(self, name)]
            ),
            *(
                (f"training.{name}", value, 0 <= value < 1e6, "0 or more")
                for name in ("weight_decay", "margin", *(f"{loss}_weight" for loss in weights))
                for value in [getattr(self, name)]
            ),
            ("training.strict_weight", self.strict_weight, some_loss, "above 0 where no other loss is on"),
            *(
                (f"training.{name}", value, value in known, _one_of(known))
                for name, known in _OF_LOSSES.items()
                for value in [getattr(self, name)]
            ),
        )


@dataclass(frozen=True, kw_only=True)
class StoreSettings:
    """Where records are kept: [store]."""

    url: str = field(default="", repr=False)  # may hold a password; empty is SQLite in the data directory

    def __post_init__(self) -> None:
        known = ("sqlite:///", "postgresql://", "postgresql+psycopg://")
        is_address = not self.url or self.url.startswith(known)
        expected = "empty, or an address such as postgresql+psycopg://ann@localhost/vouch"
        _require(("store.url", without_secrets(self.url), is_address, expected))


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """How a large shared memory is searched by meaning: [index]."""

    kind: Literal["auto", "exact", "chroma", "faiss"] = "auto"  # exact needs memory, the others a folder
    url: str = field(default="", repr=False)  # of a Chroma server; may hold a password

    def __post_init__(self) -> None:
        of_server = self.kind in ("auto", "chroma")
        fits = not self.url or (of_server and _is_web_address(re.sub(r"//[^/@]*@", "//", self.url)))
        _require(
            ("index.kind", self.kind, self.kind in _INDEXES, _one_of(_INDEXES)),
            (
                "index.url",
                without_secrets(self.url),
                fits,
                "empty, or the address of a Chroma server such as http://127.0.0.1:8000, with kind chroma",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class TerminalSettings:
    """How the screens look and listen: [terminal]."""

    theme: str = "textual-dark"  # or ansi-dark, ansi-light: the terminal's own sixteen colours
    send_with: Literal["enter", "ctrl+j"] = "enter"  # with ctrl+j, Enter is the new line
    follow: bool = True  # keep the newest line in view
    mouse: bool = True  # False leaves selection to the terminal
    plain: bool = False  # no screens at all
    keys: Mapping[str, str] = field(default_factory=dict)  # binding id: "key, key"

    def __post_init__(self) -> None:
        theme = f"a theme, such as {nearest_theme(self.theme)!r}"
        _require(
            ("terminal.theme", self.theme, self.theme in THEMES, theme),
            ("terminal.send_with", self.send_with, self.send_with in ("enter", "ctrl+j"), "enter or ctrl+j"),
        )


@dataclass(frozen=True, kw_only=True)
class ScaleSettings:
    """Who does bulk work: [scale]."""

    engine: Literal["here", "ray"] = "here"  # in this process, or by actors of Ray
    address: str = ""  # of a Ray cluster; empty: one is begun on this machine while it is needed
    workers: int = 0  # 0 is one a core

    def __post_init__(self) -> None:
        _require(
            ("scale.engine", self.engine, self.engine in ("here", "ray"), "here or ray"),
            ("scale.workers", self.workers, 0 <= self.workers <= 10_000, "between 0 and 10000"),
        )


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What the log tells, and for how long: [log]."""

    level: Literal["debug", "info", "warning", "error"] = "info"  # this and what is worse
    log_text: bool = (
        False  # with the words of errors and of other libraries, which may quote what people wrote
    )
    days: int = 14  # files kept, one a day

    def __post_init__(self) -> None:
        _require(
            ("log.level", self.level, self.level in _LEVELS, _one_of(_LEVELS)),
            ("log.days", self.days, 1 <= self.days <= 36_500, "between 1 and 36500"),
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All sections, and where each value came from."""

    model: ModelSettings = field(default_factory=ModelSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    reranking: RerankingSettings = field(default_factory=RerankingSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)
    log: LogSettings = field(default_factory=LogSettings)
    scale: ScaleSettings = field(default_factory=ScaleSettings)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)  # further ones: [models.NAME]
    personas: Mapping[str, str] = field(default_factory=dict)  # texts for /system, by name: [personas]
    origins: Mapping[str, str] = field(default_factory=dict)  # of what is not by default

    def __post_init__(self) -> None:
        weighs = self.memory.model
        has_model = self.memory.agents != "model" or self.model.backend != "extractive" or bool(weighs)
        _require(
            (
                "memory.agents",
                self.memory.agents,
                has_model,
                "auto or reader while model.backend is 'extractive', which is no model that could weigh",
            ),
            (
                "memory.model",
                weighs,
                not weighs or weighs in self.models,
                "empty, or NAME of a [models.NAME]",
            ),
        )

    def section_of(self, model: ModelSettings) -> str:
        """Where the settings of a model stand: `models.NAME`, or `model` of all others of its server too."""
        if replace(self.model, name=model.name) == model:
            return "model"
        for name, named in self.models.items():
            if replace(named, name=model.name) == model:
                return f"models.{name}"
        return "model"

    def origin(self, key: str) -> str:
        """Where a value came from: `default`, `settings.toml line 12`, `VOUCH_USER` or `--user`.

        key: as in `retrieval.pool` or `terminal.keys.why`, or `user`, which is no part of the file.
        Raises KeyError for a key that does not exist.
        """
        if key not in KNOWN_KEYS and not key.startswith("terminal.keys."):
            raise KeyError(key)
        return self.origins.get(key, DEFAULT)

    def in_force(self) -> Iterator[tuple[str, object, str]]:
        """Every setting as key, value and origin, fit to be shown; see `fit_to_show`."""
        for key in FILE_KEYS:
            section, _, name = key.partition(".")
            value = getattr(getattr(self, section), name)
            if key == "terminal.keys":
                for binding, pressed in value.items():
                    yield f"{key}.{binding}", pressed, self.origin(f"{key}.{binding}")
            else:
                yield key, fit_to_show(key, value), self.origin(key)


SECTIONS: dict[str, type[Any]] = {
    "model": ModelSettings,
    "encoder": EncoderSettings,
    "retrieval": RetrievalSettings,
    "reranking": RerankingSettings,
    "answer": AnswerSettings,
    "memory": MemorySettings,
    "learning": LearningSettings,
    "training": TrainingSettings,
    "store": StoreSettings,
    "index": IndexSettings,
    "scale": ScaleSettings,
    "terminal": TerminalSettings,
    "log": LogSettings,
}
FILE_KEYS = tuple(f"{name}.{f.name}" for name, kind in SECTIONS.items() for f in dataclasses.fields(kind))
KNOWN_KEYS = frozenset((*FILE_KEYS, "user"))


def fit_to_show(key: str, value: object) -> object:
    """A setting's value without what may be a secret: in an address, or in what is sent with each request.

    value: of any type, as a file may hold it.
    """
    if key in _SECRETIVE:
        return (
            Json(json.dumps(hidden(value.read()), ensure_ascii=False))
            if isinstance(value, Json)
            else hidden(value)
        )
    return without_secrets(value) if key in _ADDRESSES and isinstance(value, str) else value


def _one_of(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _is_web_address(url: str) -> bool:
    from urllib.parse import urlsplit

    # Backslashes, blanks and users are what two parsers of addresses disagree about, and the one
    # that decides who is sent a key is not the one that opens the connection.
    if re.search(r"[\s\\@\x00-\x1f\x7f]", url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
