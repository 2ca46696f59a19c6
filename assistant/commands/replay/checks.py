"""Which options of vouch replay go together: what cannot is refused, and what does nothing is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stores.base.errors import WrongUsage

if TYPE_CHECKING:
    from assistant.replay.runs.plan import ReplayPlan

_OF_QUESTIONS = {  # parameter: its option, which a comparison has no use for
    "sets": "--sets",
    "splits": "--split",
    "passages": "--passages",
    "passage_columns": "--passage-column",
    "methods": "--method",
    "losses": "--losses",
    "judge": "--judge",
    "accuracy": "--accuracy",
    "answers": "--answers",
    "interval": "--interval",
    "remembers": "--remembers",
    "user_feedback": "--user-feedback",
    "seeds": "--seeds",
    "order": "--order",
    "first": "--first",
    "min_judged": "--min-judged",
    "training": "--training",
    "out": "--out",
    "fresh": "--fresh",
    "times": "--times",
}
_OF_A_COMPARISON = {"newest": "--newest", "up_to": "--up-to"}
_OF_QUESTIONS_ALONE = (
    *("columns", "passages", "passage_columns", "losses", "judge", "answers", "remembers", "user_feedback"),
    *("min_judged", "training", "replies"),
)
_OF_LUF = ("losses", "remembers", "user_feedback")

Tell = Callable[[str], None]


def must_be_no_sessions(named: Sequence[str]) -> None:
    """Raises `WrongUsage` where all that is named are numbers of sessions: those need two models."""
    if all(name.isdecimal() and not Path(name).exists() for name in named):
        raise WrongUsage(
            "a session is replayed under two models, and none are named",
            hint=f"As in: vouch replay {named[0]} --model live --against previous",
        )


def check_options(given: Collection[str], *, compares: bool) -> None:
    """Raises `WrongUsage` for an option of the other kind of replay. given: parameters that were named."""
    others = _OF_QUESTIONS if compares else _OF_A_COMPARISON
    for name, option in others.items():
        if name in given:
            raise WrongUsage(
                f"{option} cannot be used with --model, --against and --changed, which compare models"
                if compares
                else f"{option} can be used with --model and --against only",
                hint="--newest N plays the last N messages."
                if name == "first"
                else "Leave one of them out."
                if compares
                else "As in: --model live --against previous",
            )


def check_alone(plan: ReplayPlan, given: Collection[str]) -> str:
    """The method that plays something else than questions, if there is one; empty: none.

    Raises `WrongUsage` where it stands beside another, or is given what is of questions.
    """
    from assistant.replay.methods.choice import ALONE, FROZEN

    alone = next((choice.kind for choice in plan.played if choice.kind in ALONE), "")
    if not alone:
        return ""
    if others := [choice for choice in plan.played if choice.kind not in (FROZEN, alone)]:
        plays = ALONE.get(others[0].kind, "questions")
        raise WrongUsage(
            f"{alone} plays {ALONE[alone]} and {others[0].label} {plays}", hint="Play one after the other."
        )
    if wrong := [name for name in _OF_QUESTIONS_ALONE if name in given]:
        option = {**_OF_QUESTIONS, "replies": "--replies"}[wrong[0]]
        raise WrongUsage(f"{option} cannot be used with {alone}", hint="Leave one of them out.")
    return alone


def check_plan(
    plan: ReplayPlan, given: Collection[str], tell: Tell, *, seeds: Sequence[int], asks_a_model: bool
) -> None:
    """Tells what does nothing in this plan; raises `WrongUsage` where it lacks a chat model.

    given: parameters that were named. seeds: as they were. asks_a_model: the settings name a chat model.
    """
    if not asks_a_model:
        writers = [choice.kind for choice in plan.played if choice.writes]
        if writers:
            raise WrongUsage(
                f"{writers[0]} asks a chat model, and the settings name none",
                hint=f"Set model.backend in settings.toml, or have its writer simulated: {writers[0]}:0.8",
            )
        if plan.judge == "model":
            raise WrongUsage(
                "--judge model asks a chat model, and the settings name none",
                hint="Set model.backend in settings.toml, or choose --judge reader or simulated.",
            )
    if len(plan.seeds) < len(seeds):
        tell(f"--seeds: each is played once: {', '.join(map(str, plan.seeds))}.")
    if "accuracy" in given and plan.judge != "simulated":
        tell(f"--accuracy does nothing: it is of --judge simulated, and the judge is {plan.judge}.")
    if not any(choice.kind == "luf" for choice in plan.played):
        for name in _OF_LUF:
            if name in given:
                tell(f"{_OF_QUESTIONS[name]} does nothing: it is of luf, which is not played.")


def check_replies(replies: Path | None, tell: Tell, *, asks_a_model: bool) -> None:
    """Tells where a recording is only begun, or not used. Raises `WrongUsage` where it cannot be one."""
    if replies is None:
        return
    if not replies.parent.is_dir():
        raise WrongUsage(f"{replies} cannot be written: there is no folder {replies.parent}")
    if not asks_a_model:
        tell("--replies does nothing: it keeps what chat models write, and none is asked.")
    elif not replies.exists():
        tell(f"{replies} is not there yet: it is begun, and what chat models write is kept in it.")


def check_limits(
    options: Mapping[str, Any], plan: ReplayPlan, questions: Iterable[Any], measures: Collection[str]
) -> None:
    """Raises `WrongUsage` for a limit that no figure of this replay can have. measures: that it tells."""
    from assistant.replay.metrics.figure_names import check_limit, parts_of

    parts = parts_of(questions)
    for metric, limit in options["limits"]:
        check_limit(metric, limit, parts=parts, measures=measures, has_gains=len(plan.played) > 1)
