"""Long pastes, folded to one line in the prompt and unfolded when they are sent."""

from __future__ import annotations

_LINES = 20  # a longer paste is folded


class FoldedPastes:
    """What stands for a long paste, and the text behind it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, pasted: str) -> str:
        """What is put into the prompt: the text itself, or one mark for many lines."""
        lines = pasted.removesuffix("\n").count("\n") + 1
        if lines <= _LINES:
            return pasted
        mark, number = f"[{lines} lines pasted]", 1
        while self._texts.get(mark, pasted) != pasted:
            number += 1
            mark = f"[{lines} lines pasted, {number}]"
        self._texts[mark] = pasted
        return mark

    def unfold(self, text: str) -> str:
        """The text with everything that is folded in it."""
        for mark, pasted in self._texts.items():
            text = text.replace(mark, pasted)
        return text

    def at(self, line: str, column: int) -> tuple[int, int, str] | None:
        """The mark that a place of a line stands on: where it begins and ends, and the text behind it."""
        for mark, pasted in self._texts.items():
            start = line.find(mark)
            while start >= 0:
                if start <= column < start + len(mark):
                    return start, start + len(mark), pasted
                start = line.find(mark, start + 1)
        return None
