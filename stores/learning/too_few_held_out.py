"""How many questions must be held out for a round to be decided, and in words how many are lacking."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stores.learning.lessons import HELD_OUT, HeldOut

DECIDING = 30  # held-out questions with an answer; with fewer `promotion` refuses every candidate


@dataclass(frozen=True)
class TooFewHeldOut:
    """Why no candidate could go live, in words."""

    lessons: int
    held_out: HeldOut
    needed: int  # held-out questions with an answer

    @property
    def more(self) -> int:
        """About so many more lessons are needed, by the share that is held out and has an answer."""
        share = (1 + self.held_out.answered) / (1 + self.held_out.questions)
        return HELD_OUT * math.ceil((self.needed - self.held_out.answered) / share)

    @property
    def so_far(self) -> str:
        """Short, for a line that has little room."""
        return f"{self.held_out.answered} of {self.needed} held out"

    @property
    def sentence(self) -> str:
        """What there is, and what a round by itself needs; without a stop."""
        lessons = "1 lesson" if self.lessons == 1 else f"{self.lessons} lessons"
        kept, answered = self.held_out.questions, self.held_out.answered
        there = f"{lessons}, {kept} of them held out"
        wanted = f"{self.needed} held out"
        if kept != answered:
            there, wanted = f"{there}, {answered} with an answer", f"{self.needed} of these"
        return f"{there}; a round by itself needs {wanted}, about {self.more} more lessons"

    @property
    def warning(self) -> str:
        """For who begins a round all the same."""
        kept, answered = self.held_out.questions, self.held_out.answered
        there = f"{kept} question{'s are' if kept != 1 else ' is'} held out"
        if kept != answered:
            there += f", {answered} with an answer"
        can = "can hardly" if kept >= self.needed else "cannot"
        needs = f"{self.needed} are needed, about {self.more} more lessons"
        return f"This round {can} go live: {there}, and {needs}."
