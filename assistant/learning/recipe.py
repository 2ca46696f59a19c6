"""What a recipe gives: words for a model that is trained from use, and how that is done over one database.

A recipe is a folder of `recipes/` with a `recipe.py`, and a line in `assistant/wiring/recipes.py`. One
learner (`learner.py`) runs the rounds of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from assistant.learning.lineage import Learnable
from assistant.learning.outcome import Compared
from stores.learning.lessons import HeldOut
from stores.learning.rounds import Require

if TYPE_CHECKING:
    from agents.backends.query_model import QueryModel
    from agents.base.interfaces import Encoder, Judge
    from agents.models.dialogue_generator import DialogueGenerator
    from agents.models.entity_map import EntityMap
    from assistant.learning.dual_encoder_swap import BothSides
    from assistant.replay.metrics.held_out import Comparison
    from assistant.search.entity_search import EntitySearch
    from assistant.search.searching import Searching
    from assistant.settings.config import LearningSettings, Settings
    from assistant.settings.locations import Locations
    from stores.database.database import Database
    from stores.learning.checkpoints import Checkpoints
    from stores.search.encoder_versions import EncoderVersion, EncoderVersions
    from stores.search.knowledge_bases import KnowledgeBases

L = TypeVar("L", bound=Learnable)
Compare: TypeAlias = Callable[[Path, Sequence[L], Callable[[int, int], None]], Compared]
SHIPPED = "shipped"  # in place of a version: what Vouch comes with


class House(Protocol):
    """What recipes are made of; the assistant has it."""

    settings: Settings
    locations: Locations

    @property
    def database(self) -> Database: ...
    @property
    def checkpoints(self) -> Checkpoints: ...
    @property
    def encoder_versions(self) -> EncoderVersions: ...
    @property
    def wanted_encoder(self) -> Encoder: ...
    @property
    def packaged_encoder(self) -> Encoder: ...
    @property
    def searching(self) -> Searching: ...
    @property
    def judge_of_candidates(self) -> Judge: ...
    @property
    def knowledge_bases(self) -> KnowledgeBases: ...
    @property
    def entity_search(self) -> EntitySearch: ...
    @property
    def entity_map(self) -> EntityMap: ...
    @property
    def dialogue_generator(self) -> DialogueGenerator: ...
    @property
    def query_base(self) -> Path | None: ...
    @property
    def query_adapters(self) -> Path: ...
    def searching_by(self, version: EncoderVersion | None) -> Searching: ...
    def searching_in(self, folder: Path) -> Searching: ...
    def with_queries_by(self, base: Searching, folder: Path) -> Searching: ...
    def discard_index(self, version: str) -> object: ...
    def dialogue_generator_in(self, folder: Path | None) -> DialogueGenerator: ...
    def query_model_of(self, adapters: Path, *, threads: int = 0) -> QueryModel: ...


@dataclass(frozen=True)
class Recipe:
    """One model that is trained from use."""

    name: str
    role: str  # whose pointer names the model that answers
    about: str  # a heading for its lessons
    gains: str  # what Vouch does better with it, in words
    what_is_a_lesson: str  # a sentence, for who has too few
    promoted_if: str  # a sentence with {more}, {fewest} and {margin}
    lessons: Callable[[House], Counted] = field(repr=False)
    over: Callable[[House], Trainable[Any]] = field(repr=False)
    chance_of: str = "a word"  # of what its training tells the chance
    lacks: Callable[[House], tuple[str, str] | None] = lambda house: None  # why it cannot, and what to do


class Counted(Protocol):
    """What there is to learn from; see `Lessons`."""

    def count(self, *, after: int = 0) -> int:
        """How many of turns behind this one."""

    def held_out(self, *, enough: int) -> HeldOut:
        """Those that judge candidates."""


@dataclass(frozen=True)
class Trainable(Generic[L]):
    """A recipe over one database, as the settings are now; nothing is loaded before it is needed."""

    recipe: Recipe
    read: Callable[[int], Sequence[L]]  # those behind a turn that can be learned from
    settings: Mapping[str, Any]  # of the training
    train: Callable[..., Path]  # (folder, lessons that are not held out, tries=how many ways, how); see
    # `train_in_child` for the rest, and for what it returns
    compare: Compare[L]  # a candidate's folder against the live model
    require: Callable[[Sequence[L]], Require]  # of lessons, what raises `LessonsGone`; see `kept_lessons`
    encoder_version: str = ""  # of the vectors that it reads
    before_the_first: str = SHIPPED  # in place of a version, what answers before any was trained
    details: Mapping[str, Any] = field(default_factory=dict)  # what it takes to load a candidate again
    beside: tuple[str, ...] = ()  # other roles that the comparison goes by: none may change meanwhile
    both: BothSides | None = None  # where candidates encode passages too


def how_compared(learning: LearningSettings) -> dict[str, Any]:
    """What a comparison on held-out lessons is given besides these."""
    return {"seed": learning.seed, "threshold": learning.least_gain, "margin": learning.margin}


def limits_of(learning: LearningSettings) -> dict[str, float]:
    """By which a candidate goes live."""
    return {"least_gain": learning.least_gain, "margin": learning.margin}


def of_round(found: Comparison, learning: LearningSettings) -> Compared:
    """A comparison as a round notes it."""
    figures = {**found.figures, "questions": found.questions, "limits": limits_of(learning)}
    return Compared(found.promotion, figures)
