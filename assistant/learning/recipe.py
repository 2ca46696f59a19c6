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
from assistant.wiring.parts.trained import SHIPPED, TrainedModel
from stores.learning.lessons import HeldOut
from stores.learning.rounds import Require

if TYPE_CHECKING:
    from assistant.learning.dual_encoder_swap import BothSides
    from assistant.learning.held_out.retrieval import Comparison
    from assistant.settings.config import LearningSettings
    from assistant.wiring.parts.given import Given
    from assistant.wiring.parts.models import Models
    from assistant.wiring.parts.search import Search
    from assistant.wiring.parts.stores import Stores

L = TypeVar("L", bound=Learnable)
Compare: TypeAlias = Callable[[Path, Sequence[L], Callable[[int, int], None]], Compared]


@dataclass(frozen=True)
class Parts:
    """Of a running Vouch, what recipes are made of."""

    given: Given
    stores: Stores
    search: Search
    models: Models


@dataclass(frozen=True)
class Recipe:
    """One model that is trained from use."""

    model: TrainedModel  # what it is called, and the role whose pointer names what answers
    about: str  # a heading for its lessons
    gains: str  # what Vouch does better with it, in words
    what_is_a_lesson: str  # a sentence, for who has too few
    promoted_if: str  # a sentence with {more}, {fewest} and {margin}
    lessons: Callable[[Parts], Counted] = field(repr=False)
    over: Callable[[Parts], Trainable[Any]] = field(repr=False)
    chance_of: str = "a word"  # of what its training tells the chance
    lacks: Callable[[Parts], tuple[str, str] | None] = lambda parts: None  # why it cannot, and what to do

    @property
    def name(self) -> str:
        """Of the recipe."""
        return self.model.recipe

    @property
    def role(self) -> str:
        """Of the model."""
        return self.model.role


class Counted(Protocol):
    """What there is to learn from; see `Lessons`."""

    def count(self, *, after: int = 0) -> int:
        """How many of turns behind this one."""

    def turns(self) -> Sequence[int]:
        """All of which there is one, in order."""

    def held_out(self, *, after: int, enough: int) -> HeldOut:
        """Those of turns behind this one, by which a candidate may be judged."""


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
    prepare: Callable[[], object] = lambda: None  # raises what would hinder a round, before one begins
    beside: tuple[str, ...] = ()  # other roles that the comparison goes by: none may change meanwhile
    # what teaches beside those that are read, and judges nothing: no user said anything of it
    unlabelled: Callable[[], Sequence[L]] = tuple
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
