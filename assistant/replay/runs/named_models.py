"""The retrievers that a conversation can be played under, by name, and one of them made live in a copy.

    live, previous, untrained, or how a version begins -> its encoders -> the copy's pointers

A model of both sides brings its encoder along, and one of the query side the encoder whose vectors its
questions are to meet: what has no vector of that is encoded in the copy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.models.encoders.encoder import EncoderDescription
from agents.models.encoders.two_halves import with_first_version
from assistant.learning.dual_encoder_swap import RECIPE
from assistant.learning.promotion import SERVED
from assistant.learning.recipes.retriever.recipe import UNTRAINED
from assistant.replay.runs.replay_assistant import ReplayAssistant
from assistant.search.encoder_change import EncoderChange
from assistant.wiring.assistant import QUERY_ENCODER
from stores.base.errors import NotFound, VouchError
from stores.learning.checkpoints import Checkpoints
from stores.search.encoder_versions import TRAINED, EncoderVersion

LIVE, PREVIOUS = "live", "previous"
_QUERY_SIDE = "retriever"  # under which models of the query side are kept
_FEWEST_LETTERS = 4  # of a version that is told by how it begins
_MOST_LISTED = 8  # versions
_LIKE_A_ROUND = re.compile(r"(?:candidate |round )?(\d{1,9})")  # as the terminal calls its model
_LIKE_A_VERSION = re.compile(rf"{TRAINED}-.*|[0-9a-f]{{12}}")


@dataclass(frozen=True)
class Trained:
    """A model that was trained here."""

    version: str
    kept_as: str  # its folder's name
    is_of_both_sides: bool
    made_for: str  # of the query side: the encoder version whose vectors it meets; else what it began as
    dimension: int = 0  # of both sides: of its vectors
    round_id: int = 0  # which made it; 0 where that is not known


def is_retriever(named: str, checkpoints: Checkpoints) -> bool:
    """Whether a name is that of a retriever; else it may be a chat model's.

    Raises `NotFound` for what can be nothing but a trained version, and is none that is here.
    """
    return named in (LIVE, PREVIOUS, UNTRAINED) or find_trained(named, checkpoints) is not None


def find_trained(named: str, checkpoints: Checkpoints) -> Trained | None:
    """The one trained model whose version begins like this, or which that round made ("3", "candidate 3").

    None for the name of something else. Raises `NotFound`.
    """
    every = [*_of_both_sides(checkpoints), *_of_the_query_side(checkpoints)]
    found = [made for made in every if made.version.startswith(named) and len(named) >= _FEWEST_LETTERS]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(sorted(made.version for made in found))
        raise NotFound(f"{named!r} begins {len(found)} trained models: {listed}", hint="Name more of it.")
    if (number := _LIKE_A_ROUND.fullmatch(named)) is not None:
        of_it = [made for made in every if made.round_id == int(number[1])]
        if of_it:
            return of_it[-1]
        hint = what_can_be_named(checkpoints)
        raise NotFound(f"no model of round {number[1]} is kept here", hint=hint)
    if _LIKE_A_VERSION.fullmatch(named):
        raise NotFound(
            f"there is no trained model {named!r} here any more",
            hint=what_can_be_named(checkpoints),
        )
    return None


def what_can_be_named(checkpoints: Checkpoints) -> str:
    """The models of here, in a sentence for a person."""
    every = [made.version for made in (*_of_the_query_side(checkpoints), *_of_both_sides(checkpoints))]
    newest = ", ".join(every[-_MOST_LISTED:])
    of_here = f"a version that is kept: {newest}" if newest else "once a round has made one, a version"
    return f"Name {LIVE}, {PREVIOUS}, {UNTRAINED}, or {of_here}."


def searched_by(assistant: ReplayAssistant) -> tuple[str, str]:
    """The versions by which a copy finds passages: of its encoder, and of what encodes its questions."""
    live = assistant.stores.encoder_versions.live()
    encoder, queries = (
        live.version if live else "",
        assistant.stores.live_models.live(QUERY_ENCODER) or UNTRAINED,
    )
    known = assistant.stores.live_models.known(QUERY_ENCODER, queries)
    is_of_it = known is not None and known.details.get("encoder_version") == encoder
    return encoder, queries if is_of_it else UNTRAINED


def make_live(named: str, assistant: ReplayAssistant) -> None:
    """Has what is searched in a copy be found by the model of this name; changes nothing for `LIVE`.

    Raises `NotFound`, or `CannotUndo` where there is no previous one.
    """
    if named == PREVIOUS:
        assistant.learning.step_back()
        assistant.catch_up()
        return
    live = assistant.stores.encoder_versions.live()
    if named == UNTRAINED:
        if live is not None:
            _search_with(assistant, live.trained_from or live.version, named)
        assistant.stores.live_models.make_live(QUERY_ENCODER, UNTRAINED)
    elif named != LIVE and (trained := find_trained(named, assistant.stores.checkpoints)) is not None:
        if trained.is_of_both_sides:
            _change_to(assistant, _as_encoder(assistant, trained))
        else:
            _search_with(assistant, trained.made_for, named)
            details = {"encoder_version": trained.made_for}
            assistant.stores.live_models.make_live(QUERY_ENCODER, trained.version, details=details)
    wanted = assistant.stores.encoder_versions.live()
    assistant.catch_up()
    if wanted is not None and named != LIVE and assistant.stores.encoder_versions.live() != wanted:
        raise NotFound(f"{named} belongs to the encoder {wanted.version}, which the settings name no more")


def _of_both_sides(checkpoints: Checkpoints) -> list[Trained]:
    found = []
    for kept in checkpoints.versions(RECIPE):
        try:
            served = EncoderDescription.read(checkpoints.place(RECIPE, kept) / SERVED)
            card = checkpoints.card(RECIPE, kept)
            began_as = str(card["encoder_version"])
        except (VouchError, KeyError):
            continue  # damaged: it is not here
        version = with_first_version(began_as, served.version)
        found.append(Trained(version, kept, True, began_as, served.dimension, card.get("round", 0)))
    return found


def _of_the_query_side(checkpoints: Checkpoints) -> list[Trained]:
    found = []
    for kept in checkpoints.versions(_QUERY_SIDE):
        try:
            card = checkpoints.card(_QUERY_SIDE, kept)
            made_for = str(card["encoder_version"])
        except (VouchError, KeyError):
            continue
        found.append(Trained(kept, kept, False, made_for, round_id=card.get("round", 0)))
    return found


def _as_encoder(assistant: ReplayAssistant, trained: Trained) -> EncoderVersion:
    began_as = assistant.stores.encoder_versions.known(trained.made_for)
    root = began_as.trained_from if began_as is not None and began_as.trained_from else trained.made_for
    dimension = began_as.dimension if began_as is not None else trained.dimension
    return EncoderVersion(trained.version, f"{TRAINED}:{trained.kept_as}", dimension, root)


def _search_with(assistant: ReplayAssistant, version: str, named: str) -> None:
    encoder = assistant.stores.encoder_versions.known(version)
    if encoder is None:
        raise NotFound(f"{named} belongs to the encoder {version}, which never answered here")
    _change_to(assistant, encoder)


def _change_to(assistant: ReplayAssistant, encoder: EncoderVersion) -> None:
    """Encodes what that encoder has no vector of, and searches with it."""
    versions = assistant.stores.encoder_versions
    live = versions.live()
    if live is None or live.version != encoder.version:
        for _ in EncoderChange(versions, encoder, lambda: assistant.search.searching_with(encoder)).build():
            pass
