"""What is played: questions, task dialogues or conversations, in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.commands.replay.checks import check_alone, check_limits, check_plan, check_replies
from assistant.commands.replay.disk import disk_told, make_folder
from assistant.commands.replay.parameters import LOSSES
from assistant.invocation import Invocation
from stores.base.errors import UnreadableDocument, WrongUsage

if TYPE_CHECKING:
    from assistant.replay.runs.in_folder import InFolder
    from assistant.replay.runs.plan import ReplayPlan

R = TypeVar("R", bound="InFolder")


def replay_of(call: Invocation, options: Mapping[str, Any], given: Collection[str]) -> tuple[InFolder, Path]:
    from assistant.replay.methods.choice import OF_DIALOGUES

    plan = _plan(call, options)
    if alone := check_alone(plan, given):
        play = _of_dialogues if alone == OF_DIALOGUES else _of_conversations
        return _in_folder(call, options, play(call, plan, options))
    from assistant.replay.runs.inputs import read_inputs
    from assistant.replay.runs.replay import Replay

    asks_a_model = call.settings.model.backend != "extractive"
    check_plan(plan, given, call.tell, seeds=options["seeds"], asks_a_model=asks_a_model)
    check_replies(options["replies"], call.tell, asks_a_model=asks_a_model)
    try:
        streamed = read_inputs(
            options["named"],
            data=options["sets"],
            splits=options["splits"],
            columns=dict(options["columns"]),
            passages=options["passages"],
            passage_columns=dict(options["passage_columns"]),
            tell=call.tell,
        )
    except UnreadableDocument as error:  # as an empty one: 1 is kept for a figure under its limit
        raise WrongUsage(error.message, hint=error.hint) from error
    questions = [question for part in streamed.parts for question in part]
    if options["limits"]:
        from assistant.replay.metrics.figure_names import measures_of

        check_limits(options, plan, questions, measures_of(questions, users_speak=plan.user_feedback))

    def over(folder: Path) -> Replay:
        return Replay(
            plan,
            streamed,
            folder,
            settings=call.settings,
            live=call.locations,
            api_key=call.api_key,
            offline=call.is_offline,
            replies=options["replies"],
        )

    made, folder = _in_folder(call, options, over)
    if options["replies"] and (broken := made.broken_replies):
        lines = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        call.tell(f"{options['replies']}: passed over what is no whole JSON, in line {lines}.")
    return made, folder


def _of_dialogues(
    call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]
) -> Callable[[Path], InFolder]:
    from assistant.replay.metrics.measures import OF_DIALOGUES as MEASURES
    from assistant.replay.runs.dialogues import DialogueReplay, read_dialogue_sets

    try:
        streamed = read_dialogue_sets(options["named"], data=options["sets"], splits=options["splits"])
    except UnreadableDocument as error:
        raise WrongUsage(error.message, hint=error.hint) from error
    check_limits(options, plan, streamed.domains, MEASURES)

    return lambda folder: DialogueReplay(
        plan, streamed, folder, settings=call.settings, live=call.locations, offline=call.is_offline
    )


def _of_conversations(
    call: Invocation, plan: ReplayPlan, options: Mapping[str, Any]
) -> Callable[[Path], InFolder]:
    from assistant.replay.metrics.measures import OF_FOLLOW_UPS as MEASURES
    from assistant.replay.runs.follow_ups import FollowUpReplay
    from assistant.replay.streams.follow_ups import read_conversations

    data, named, parts = options["sets"], options["named"], options["splits"] or ("test",)
    if data is None or not data.is_dir():
        raise WrongUsage("--sets names the folder of the sets of conversations", hint="As in --sets data/.")
    if len(named) > 1 or len(parts) > 1:
        raise WrongUsage("unirag plays one part of one set", hint="Play one after the other.")
    with call.assistant() as assistant:
        assistant.learning.require_trainable("query")
        base = assistant.models.query_base
    assert base is not None, "it can be trained"
    try:
        streamed = read_conversations(named[0], data, parts[0])
    except UnreadableDocument as error:
        raise WrongUsage(error.message, hint=error.hint) from error
    check_limits(options, plan, streamed.domains, MEASURES)
    return lambda folder: FollowUpReplay(
        plan,
        streamed,
        folder,
        settings=call.settings,
        live=call.locations,
        base=base,
        offline=call.is_offline,
    )


def _in_folder(call: Invocation, options: Mapping[str, Any], over: Callable[[Path], R]) -> tuple[R, Path]:
    """The replay in the folder that is named, or in one of its own in the cache."""
    from assistant.replay.runs.plan import plan_key
    from assistant.replay.storage.folder import check_folder

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
    from assistant.replay.methods.choice import MethodChoice, checked_training
    from assistant.replay.runs.plan import ReplayPlan

    losses = options["losses"].replace(",", " ").split()
    if not losses:
        raise WrongUsage("--losses names none", hint=f"As in --losses {LOSSES}")
    learning = call.settings.learning
    training = {"epochs": learning.epochs, "learning_rate": learning.learning_rate}
    if options["training"]:
        training |= checked_training({name: _value(given) for name, given in options["training"]})
    return ReplayPlan(
        methods=tuple(MethodChoice.read(text, losses=losses) for text in options["methods"] or ("luf",)),
        judge=options["judge"],
        accuracy=options["accuracy"],
        answers=options["answers"],
        interval=options["interval"],
        remembers=options["remembers"],
        seeds=tuple(dict.fromkeys(options["seeds"])),
        order=options["order"],
        first=options["first"],
        min_judged=options["min_judged"],
        user_feedback=bool(options.get("user_feedback")),
        training=training,
        threads=learning.threads,
    )


def _value(given: str) -> bool | int | float | str:
    if given in ("true", "false"):
        return given == "true"
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            pass
    return given
