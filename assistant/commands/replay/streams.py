"""What is played: questions, task dialogues or conversations, in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.commands.replay.disk import disk_told, make_folder
from assistant.invocation import Invocation
from stores.base.errors import UnreadableDocument, WrongUsage

if TYPE_CHECKING:
    from assistant.replay.runs.in_folder import InFolder
    from assistant.replay.runs.plan import ReplayPlan
    from assistant.replay.runs.replay import Replay

Over = Callable[[Path], "InFolder"]  # the replay in a folder


def replay_of(
    call: Invocation, options: Mapping[str, Any], questions: Callable[..., Replay] | None = None
) -> tuple[InFolder, Path]:
    """The replay in the folder that is named, or in one of its own in the cache.

    questions: see `command.run`. Raises `WrongUsage` for what cannot be played, before anything is.
    """
    from assistant.replay.runs.plan import plan_key
    from assistant.replay.storage.folder import check_folder

    plan = _plan(call, options)
    try:
        over = _over(call, plan, options, questions)
    except UnreadableDocument as error:  # as an empty one: 1 is kept for a figure under its limit
        raise WrongUsage(error.message, hint=error.hint) from error
    replays = call.locations.cache / "replays"
    folder = options["out"] or replays / plan_key(over(replays / "unnamed").identity)
    made = over(folder)
    check_folder(folder)
    make_folder(folder)
    if options["fresh"]:
        with disk_told(folder):
            made.begin_anew()
    return made, folder


def _plan(call: Invocation, options: Mapping[str, Any]) -> ReplayPlan:
    from assistant.replay.methods.choice import MethodChoice
    from assistant.replay.runs.plan import ReplayPlan

    learning = call.settings.learning
    return ReplayPlan(
        methods=tuple(map(MethodChoice.read, options["method"] or ("luf",))),
        judge=options["judge"],
        accuracy=options["accuracy"],
        interval=options["interval"],
        seeds=options["seeds"],
        first=options["first"],
        training={"epochs": learning.epochs, "learning_rate": learning.learning_rate},
        threads=learning.threads,
    )


def _over(
    call: Invocation,
    plan: ReplayPlan,
    options: Mapping[str, Any],
    questions: Callable[..., Replay] | None,
) -> Over:
    from assistant.replay.methods.choice import ALONE, CAUTIOUS, EVO, FLOWRAG, FROZEN, OF_DIALOGUES
    from assistant.replay.metrics.measures import MEASURES
    from assistant.replay.runs.inputs import read_inputs
    from assistant.replay.runs.replay import Replay

    kinds = [choice.kind for choice in plan.played if choice.kind != FROZEN]
    if alone := next((kind for kind in kinds if kind in ALONE), ""):
        if len(kinds) > 1 or options["passages"]:
            raise WrongUsage(f"{alone} plays {ALONE[alone]} of the named sets, and nothing beside frozen")
        return (_of_dialogues if alone == OF_DIALOGUES else _of_conversations)(call, plan, options)
    if {EVO, CAUTIOUS}.intersection(kinds):
        _check_judge(call, kinds)
    if plan.is_by_sets and len(options["named"]) < 2:
        hint = "Name the sets in their order, as in: vouch replay covidqa friendsqa --method flowrag"
        raise WrongUsage(f"{FLOWRAG} plays several sets, each a collection", hint=hint)
    streamed = read_inputs(
        options["named"],
        data=options["sets"],
        splits=options["split"],
        passages=options["passages"],
        tell=call.tell,
    )
    _check_limits(options, plan, (question for part in streamed.parts for question in part), MEASURES)
    kind = questions or Replay
    return lambda folder: kind(
        plan,
        streamed,
        folder,
        settings=call.settings,
        live=call.locations,
        offline=call.is_offline,
    )


def _check_judge(call: Invocation, kinds: Collection[str]) -> None:
    from assistant.replay.methods.choice import CAUTIOUS, EVO

    if not {EVO, CAUTIOUS}.issuperset(kinds):
        raise WrongUsage(f"{EVO} and {CAUTIOUS} train the judge, so only frozen is played beside them")
    if not call.settings.reranking.judge_model:
        hint = "Set it to the folder of a causal language model."
        raise WrongUsage("evo trains the model of reranking.judge_model, which is not set", hint=hint)
    with call.assistant() as assistant:
        assistant.models.require_judge_model()


def _of_dialogues(call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]) -> Over:
    from assistant.replay.metrics.measures import OF_DIALOGUES as MEASURES
    from assistant.replay.runs.dialogues import DialogueReplay, read_dialogue_sets

    streamed = read_dialogue_sets(options["named"], data=options["sets"], splits=options["split"])
    _check_limits(options, plan, streamed.domains, MEASURES)
    return lambda folder: DialogueReplay(
        plan, streamed, folder, settings=call.settings, live=call.locations, offline=call.is_offline
    )


def _of_conversations(call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]) -> Over:
    from assistant.replay.metrics.measures import OF_FOLLOW_UPS as MEASURES
    from assistant.replay.runs.follow_ups import FollowUpReplay
    from assistant.replay.streams.follow_ups import read_conversations

    data, named, parts = options["sets"], options["named"], options["split"] or ("test",)
    if data is None or not data.is_dir():
        raise WrongUsage("--sets names the folder of the sets of conversations", hint="As in --sets data/.")
    if len(named) > 1 or len(parts) > 1:
        raise WrongUsage("unirag plays one part of one set", hint="Play one after the other.")
    with call.assistant() as assistant:
        assistant.learning.require_trainable("query")
        base = assistant.models.query_base
    assert base is not None, "it can be trained"
    streamed = read_conversations(named[0], data, parts[0])
    _check_limits(options, plan, streamed.domains, MEASURES)
    return lambda folder: FollowUpReplay(
        plan,
        streamed,
        folder,
        settings=call.settings,
        live=call.locations,
        base=base,
        offline=call.is_offline,
    )


def _check_limits(
    options: Mapping[str, Any], plan: ReplayPlan, questions: Iterable[Any], measures: Collection[str]
) -> None:
    """Raises `WrongUsage` for a limit that no figure of this replay can have. measures: that it tells."""
    from assistant.replay.metrics.figure_names import check_limit, parts_of

    parts = parts_of(questions)
    for metric, limit in options["limits"]:
        check_limit(metric, limit, parts=parts, measures=measures, has_gains=len(plan.played) > 1)
