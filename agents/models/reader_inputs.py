"""Texts as the reader's network reads them: pairs, windows over long passages, and back to characters.

    question, passage -> [CLS] question [SEP] part of the passage [SEP]

Training and serving make their inputs here, so that the network meets in a chat what it has learned on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

Whole = npt.NDArray[np.int64]

LONGEST_FIRST = 64  # tokens, and never more than half of the input; the rest of a question is not read
_FRAME = 3  # [CLS], [SEP] and [SEP]


@dataclass(frozen=True)
class Tokens:
    """A text's tokens, without those that frame it."""

    ids: list[int]
    offsets: list[tuple[int, int]]  # characters of the text, each token's own


@dataclass(frozen=True)
class Window:
    """One input of the network."""

    ids: list[int]
    second_at: int  # place of the first token of the second text; len(ids) when there is none
    offsets: list[tuple[int, int]]  # of that text's tokens that are in this window, in its characters

    @property
    def length(self) -> int:
        """Tokens, those that frame the texts included."""
        return len(self.ids)

    def span_places(self, span: tuple[int, int]) -> tuple[int, int] | None:
        """First and last place in `ids` of a character range; None where it is not wholly within."""
        start, end = span
        within = [i for i, (a, b) in enumerate(self.offsets) if a < end and b > start]
        if not within or self.offsets[within[0]][0] > start or self.offsets[within[-1]][1] < end:
            return None
        return self.second_at + within[0], self.second_at + within[-1]


@dataclass(frozen=True)
class Batch:
    """Windows side by side, padded to the longest. Each array: (B, L)."""

    ids: Whole
    types: Whole  # 1 from the second text on
    mask: Whole  # 1 for a token, 0 for padding


class ReaderTokenizer:
    """Makes windows of texts, by the packaged encoder's tokenizer."""

    def __init__(self, file: Path | bytes) -> None:
        content = file if isinstance(file, bytes) else file.read_bytes()
        self._tokenizer = Tokenizer.from_buffer(content)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is not the end of it
        self._begin, self._split = self._control("[CLS]", "<s>"), self._control("[SEP]", "</s>")

    def _control(self, *tokens: str) -> int:
        """The first of these that the tokenizer has: of BERT's, or of MPNet's."""
        for token in tokens:
            if (place := self._tokenizer.token_to_id(token)) is not None:
                return int(place)
        raise ValueError(f"the tokenizer has no {tokens[0]}")

    def tokens(self, text: str) -> Tokens:
        """The text's tokens; what only looks like a control token is read as the text that it is."""
        encoding = self._tokenizer.encode(valid_unicode(text), add_special_tokens=False)
        return Tokens(encoding.ids, encoding.offsets)

    def single(self, sentence: str, *, limit: int) -> Window:
        """A sentence by itself; limit: the most tokens, framed."""
        ids = [self._begin, *self.tokens(sentence).ids[: limit - 2], self._split]
        return Window(ids, len(ids), [])

    def pair(self, first: Tokens, second: Tokens, begin: int, *, limit: int) -> Window:
        """The part of `second` from token `begin` on that fits beside `first` into `limit` tokens."""
        head = [self._begin, *first.ids[: min(LONGEST_FIRST, limit // 2)], self._split]
        end = begin + limit - len(head) - 1
        ids = [*head, *second.ids[begin:end], self._split]
        return Window(ids, len(head), second.offsets[begin:end])

    def pairs(self, first: Tokens, second: Tokens, *, limit: int, overlap: int) -> list[Window]:
        """Windows that together hold all of `second`; neighbours share `overlap` tokens."""
        room = self.room(first, limit=limit)
        if overlap >= room:
            raise ValueError(f"windows of {limit} tokens cannot overlap by {overlap}")
        begins = [0]
        while begins[-1] + room < len(second.ids):
            begins.append(begins[-1] + room - overlap)
        return [self.pair(first, second, begin, limit=limit) for begin in begins]

    def room(self, first: Tokens, *, limit: int) -> int:
        """How many tokens of a second text fit beside this first one."""
        return limit - _FRAME - min(len(first.ids), LONGEST_FIRST, limit // 2)


def batch_of(windows: Sequence[Window], *, pad_id: int = 0) -> Batch:
    """One batch of windows, in their order."""
    length = max(window.length for window in windows)
    ids = np.full((len(windows), length), pad_id, dtype=np.int64)
    types = np.zeros((len(windows), length), dtype=np.int64)
    mask = np.zeros((len(windows), length), dtype=np.int64)
    for row, window in enumerate(windows):
        ids[row, : window.length] = window.ids
        types[row, window.second_at : window.length] = 1
        mask[row, : window.length] = 1
    return Batch(ids, types, mask)


def valid_unicode(text: str) -> str:
    """Without halves of surrogate pairs, which the tokenizer refuses. As many characters as before."""
    return text.encode("utf-8", "replace").decode("utf-8")
