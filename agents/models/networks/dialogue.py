"""The task-dialogue generator: a hierarchical pointer over a context and the cells of entities.

    p(reply word) = p(word or column) x p(position given column), summed over all positions of the same string

Context words and cells are embedded by frozen MiniLM vectors of their own strings, so that a column and a
value that no training held can be told. Cells attend within their own row and to the context alone: what is
computed of an entity does not depend on the others (Fusion-in-Decoder), and Eq. 3 of Dual-Feedback is the
likelihood with one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from agents.models.dialogue_arrays import VECTOR
from agents.models.dialogue_inputs import FEATURES

Layer = TypeVar("Layer", nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
LAYERS = 2  # of the decoder
_SCALE = VECTOR**0.5  # of vectors of unit length, so that each component is about 1
_NEVER = -1e4  # a logit that is not chosen, and still a number in half precision


@dataclass(frozen=True)
class Shape:
    """Of the network."""

    vocabulary: int
    width: int = 192
    heads: int = 4
    inner: int = 512
    dropout: float = 0.2


@dataclass
class DialogueBatch:
    """B examples, padded: L context words, U utterances, S columns, K rows of C cells, T words of the reply.

    Positions that are pointed at are the context's words and then all cells: P = L + K x C.
    """

    word_ids: Tensor  # (B, L) of the vocabulary
    word_vectors: Tensor  # (B, L, 384)
    window_vectors: Tensor  # (B, L, 384) of each word between those beside it
    word_marks: Tensor  # (B, L, 10) who said it, how far back, and padding by zeros
    utterance_vectors: Tensor  # (B, U, 384)
    memory_mask: Tensor  # (B, 1 + U + L) true where there is something
    column_vectors: Tensor  # (B, S, 384)
    cell_vectors: Tensor  # (B, K, C, 384)
    cell_features: Tensor  # (B, K, C, FEATURES)
    cell_columns: Tensor  # (B, K, C) place of the column, 0 where there is no cell
    cell_mask: Tensor  # (B, K, C)
    meeting: Tensor  # (B,) 0 to 5
    position_columns: Tensor  # (B, P) of the column; S for a word that is copied; -1 for nothing
    said_ids: Tensor  # (B, T) of the reply before each word, from the beginning mark
    said_vectors: Tensor  # (B, T, 384) zeros where the word is of the vocabulary
    said_columns: Tensor  # (B, T) of what it was copied from, as in position_columns; -1 for nothing
    target_ids: Tensor  # (B, T) of the vocabulary; -1 where the word is none of it
    target_positions: Tensor  # (B, T, P) true where the word stands at that position
    target_mask: Tensor  # (B, T) false for padding and for what can neither be told nor copied


class ReplyLayer(nn.Module):
    """A layer of the decoder, whose keys and values are kept from word to word."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.own, self.own_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.asks, self.crossed = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.crossed_out = nn.Linear(width, width)
        self.widens, self.narrows = nn.Linear(width, shape.inner), nn.Linear(shape.inner, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.drop = nn.Dropout(shape.dropout)
        for layer in (self.own, self.asks, self.crossed):
            nn.init.uniform_(layer.weight, -((1.5 / width) ** 0.5), (1.5 / width) ** 0.5)
            nn.init.zeros_(layer.bias)

    def of_memory(self, everything: Tensor) -> Tensor:
        """(B, M, D) -> (2, B, H, M, D / H) keys and values."""
        return self._parted(self.crossed(everything), 2)

    def forward(
        self, said: Tensor, past: Tensor, crossed: Tensor, mask: Tensor, earlier: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, T, D) of the words, with keys and values of those before: (2, B, H, t, D / H).

        mask: (B, 1, 1, M). earlier: (T, t + T) true where a word may look. Returns both with T words more.
        """
        dropped = self.drop.p if self.training else 0.0
        own = self._parted(self.own(self.norms[0](said)), 3)
        kept = torch.cat([past, own[1:]], 3)
        looked = scaled_dot_product_attention(own[0], kept[0], kept[1], earlier, dropped)
        said = said + self.drop(self.own_out(looked.transpose(1, 2).flatten(2)))
        asked = self._parted(self.asks(self.norms[1](said)), 1)[0]
        looked = scaled_dot_product_attention(asked, crossed[0], crossed[1], mask, dropped)
        said = said + self.drop(self.crossed_out(looked.transpose(1, 2).flatten(2)))
        inner = self.drop(gelu(self.widens(self.norms[2](said))))
        return said + self.drop(self.narrows(inner)), kept

    def _parted(self, of_all: Tensor, parts: int) -> Tensor:
        size, length, width = of_all.shape
        parted = of_all.reshape(size, length, parts, self.heads, width // parts // self.heads)
        return parted.permute(2, 0, 3, 1, 4)


@dataclass
class Prepared:
    """What every word of a reply looks at, computed once."""

    crossed: Tensor  # (layers, 2, B, H, M, D / H) keys and values of the memory
    mask: Tensor  # (B, M)
    pointed: Tensor  # (B, P, D) keys of what is pointed at
    named: Tensor  # (B, S + 1, D) of the columns; the last is a word that is copied
    position_columns: Tensor  # (B, P)
    meeting: Tensor  # (B,)


class DialogueNetwork(nn.Module):
    """See the module's docstring."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.words = nn.Embedding(shape.vocabulary, width)
        self.of_vector = nn.Linear(VECTOR, width)
        self.of_window = nn.Linear(VECTOR, width)
        self.of_column = nn.Linear(VECTOR, width)
        self.of_marks = nn.Linear(10, width)
        self.of_features = nn.Linear(FEATURES, width)
        self.of_meeting = nn.Embedding(6, width)
        self.reminds = nn.Embedding(6, width)  # of the same, at each word of the reply
        self.places = nn.Embedding(128, width)  # counted from the end of the context, and in the reply

        def layer(kind: type[Layer]) -> Layer:
            return kind(
                width,
                shape.heads,
                shape.inner,
                shape.dropout,
                "gelu",
                batch_first=True,
                norm_first=True,
            )

        self.context = layer(nn.TransformerEncoderLayer)
        self.cells = layer(nn.TransformerDecoderLayer)
        self.decoder = nn.ModuleList(ReplyLayer(shape) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(width)
        self.asks = nn.Linear(width, width)
        self.points = nn.Linear(width, width)
        self.copies = nn.Parameter(torch.zeros(width))
        self.drop = nn.Dropout(shape.dropout)
        nn.init.zeros_(self.reminds.weight)
        nn.init.normal_(self.words.weight, std=width**-0.5)  # it is what is told as well, so small

    def memory(self, batch: DialogueBatch) -> tuple[Tensor, Tensor, Tensor]:
        """(B, M, D) what is attended to, (B, M) where it is something, (B, P, D) what is pointed at."""
        size, length = batch.word_ids.shape
        places = torch.arange(length - 1, -1, -1, device=batch.word_ids.device).clamp(max=127)
        words = (
            self._read(batch.word_ids, batch.word_vectors)
            + self._of_columns(self.named(batch.column_vectors), batch.position_columns[:, :length])
            + self.of_window(batch.window_vectors * _SCALE)
            + self.of_marks(batch.word_marks)
            + self.places(places)
        )
        utterances = self.of_vector(batch.utterance_vectors * _SCALE)
        count = self.of_meeting(batch.meeting)[:, None]
        context = self.context(
            self.drop(torch.cat([count, utterances, words], 1)), src_key_padding_mask=~batch.memory_mask
        )
        _, rows, columns, _ = batch.cell_vectors.shape
        at = batch.cell_columns.flatten(1)[..., None].expand(-1, -1, VECTOR)
        named = torch.gather(batch.column_vectors, 1, at).reshape(size, rows, columns, VECTOR)
        cells = self.of_vector(batch.cell_vectors * _SCALE) + self.of_column(named * _SCALE)
        cells = cells + self.of_features(batch.cell_features)
        mask = batch.cell_mask.flatten(0, 1)
        alive = mask | ~mask.any(1, keepdim=True)  # a row of padding attends to itself, and is masked below
        cells = self.cells(
            self.drop(cells.flatten(0, 1)),
            context.repeat_interleave(rows, 0),
            tgt_key_padding_mask=~alive,
            memory_key_padding_mask=~batch.memory_mask.repeat_interleave(rows, 0),
        ).reshape(size, rows * columns, -1)
        everything = torch.cat([context, cells], 1)
        mask = torch.cat([batch.memory_mask, batch.cell_mask.flatten(1)], 1)
        pointed = torch.cat([context[:, -length:], cells], 1)
        return everything, mask, pointed

    def _read(self, ids: Tensor, vectors: Tensor) -> Tensor:
        read: Tensor = self.words(ids) * self.words.embedding_dim**0.5 + self.of_vector(vectors * _SCALE)
        return read

    def named(self, column_vectors: Tensor) -> Tensor:
        """(B, S + 1, D) of the columns; the last is a word that is copied."""
        columns = self.of_column(column_vectors * _SCALE)
        return torch.cat([columns, self.copies.expand(columns.shape[0], 1, -1)], 1)

    def _of_columns(self, named: Tensor, places: Tensor) -> Tensor:
        """(B, L, D) of the columns at these places, 0 at -1."""
        at = places.clamp(min=0)[..., None].expand(-1, -1, named.shape[2])
        return torch.gather(named, 1, at) * (places >= 0)[..., None]

    def prepared(self, batch: DialogueBatch) -> Prepared:
        """What a reply is made from."""
        everything, mask, pointed = self.memory(batch)
        return Prepared(
            torch.stack([layer.of_memory(everything) for layer in self.decoder]),  # type: ignore[operator]
            mask,
            self.points(pointed),
            self.named(batch.column_vectors),
            batch.position_columns,
            batch.meeting,
        )

    def nothing_said(self, size: int) -> Tensor:
        """(layers, 2, B, H, 0, D / H): the past of the first word."""
        shape = self.shape
        return self.copies.new_zeros(LAYERS, 2, size, shape.heads, 0, shape.width // shape.heads)

    def told(
        self, last: tuple[Tensor, Tensor, Tensor], past: Tensor, at: Prepared
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of what comes after each of T words, (B, T, V) and (B, T, P), and the past.

        The vocabulary's words and the positions together sum to 1. last: ids, vectors and
        columns of the T words, as in `DialogueBatch`. past: of the t words before these.
        """
        said_ids, said_vectors, said_columns = last
        steps, before = said_ids.shape[1], past.shape[4]
        places = torch.arange(steps, device=said_ids.device) + before
        said = self._read(said_ids, said_vectors) + self._of_columns(at.named, said_columns)
        said = said + self.places(places) + self.reminds(at.meeting)[:, None]
        earlier = places[:, None] >= torch.arange(before + steps, device=said.device)
        said, kept = self.drop(said), []
        for number, layer in enumerate(self.decoder):
            said, own = layer(said, past[number], at.crossed[number], at.mask[:, None, None], earlier)
            kept.append(own)
        said = self.norm(said)
        kinds = torch.cat(
            [said @ self.words.weight.T, said @ at.named.transpose(1, 2) / said.shape[2] ** 0.5], 2
        )
        has_position = (
            at.position_columns[:, None] == torch.arange(at.named.shape[1], device=said.device)[None, :, None]
        )  # (B, S + 1, P)
        vocabulary = self.words.weight.shape[0]
        closed = torch.cat(
            [has_position.new_zeros(said.shape[0], vocabulary), ~has_position.any(2)], 1
        )  # (B, V + S + 1)
        kinds = kinds.masked_fill(closed[:, None], _NEVER).log_softmax(2)
        scores = self.asks(said) @ at.pointed.transpose(1, 2) / said.shape[2] ** 0.5
        of_kind = torch.where(has_position[:, None], scores[:, :, None], _NEVER)  # (B, T, S + 1, P)
        within = of_kind.log_softmax(3)
        column = at.position_columns.clamp(min=0)[:, None, None].expand(-1, steps, 1, -1)
        given = torch.gather(within, 2, column).squeeze(2)
        chosen = torch.gather(kinds[:, :, vocabulary:], 2, column.squeeze(2))
        nowhere = (at.position_columns < 0)[:, None]
        positions = (given + chosen).masked_fill(nowhere, _NEVER)
        return kinds[:, :, :vocabulary], positions, torch.stack(kept)

    def token_likelihoods(self, batch: DialogueBatch) -> Tensor:
        """(B, T) the log-likelihood of each word of each reply, in nats; no matter what the mask is."""
        past = self.nothing_said(len(batch.said_ids))
        said = batch.said_ids, batch.said_vectors, batch.said_columns
        words, positions, _ = self.told(said, past, self.prepared(batch))
        by_word = torch.gather(words, 2, batch.target_ids.clamp(min=0)[..., None]).squeeze(2)
        by_word = by_word.masked_fill(batch.target_ids < 0, _NEVER)
        by_position = torch.where(batch.target_positions, positions, _NEVER)
        return torch.logsumexp(torch.cat([by_word[..., None], by_position], 2), 2)

    def likelihood(self, batch: DialogueBatch) -> Tensor:
        """(B,) the mean log-likelihood of each reply's words, in nats; with one row, Eq. 3."""
        kept = batch.target_mask
        return (self.token_likelihoods(batch) * kept).sum(1) / kept.sum(1).clamp(min=1)
