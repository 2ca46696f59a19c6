"""Task dialogue by an encoder-decoder of a Hugging Face folder (Fusion-in-Decoder, Dual-Feedback Eq. 2, 3).

    context and one entity -> encoder, each entity by itself -> decoder over all of them -> reply

It is trained and measured by `train_dialogue --base FOLDER` and scores as the built-in network does. The chat
does not serve it: no torch is loaded there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.modeling_outputs import BaseModelOutput

from agents.models.dialogue_arrays import Told
from agents.models.dialogue_inputs import MOST_ROWS, Cell, DialogueInputs, spoken
from assistant.learning.recipes.dialogue.lessons import Lesson

MOST_CONTEXT, MOST_ENTITY, MOST_REPLY = 200, 100, 64  # pieces; of a context the latest (Appendix B)
_AT_ONCE = 16
_IGNORED = -100  # what the model's own loss leaves out


@dataclass
class Encoded:
    """B contexts, each with up to K entities, as the encoder read them."""

    states: Tensor  # (B, K, L, H)
    mask: Tensor  # (B, K, L) 0 for padding; an entity that is not there is all padding

    def fused(self) -> tuple[Tensor, Tensor]:
        """(B, K x L, H) and (B, K x L): what a decoder looks at."""
        return self.states.flatten(1, 2), self.mask.flatten(1, 2)


class FusionInDecoder:
    """An encoder-decoder that reads each entity by itself."""

    learning_rate = 1e-4

    def __init__(self, network: nn.Module, tokenizer: Any) -> None:
        self.network: Any = network
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Of a folder with safetensors. Raises OSError or ValueError where it is not whole."""
        network = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True, use_safetensors=True)
        return cls(network, AutoTokenizer.from_pretrained(folder, local_files_only=True))

    def encoded(self, inputs: Sequence[DialogueInputs], *, most_rows: int = MOST_ROWS) -> Encoded:
        """Contexts with their entities; one without any is read alone."""
        config = self.network.config
        texts = [self._texts(each, most_rows) for each in inputs]
        rows, length = max(map(len, texts)), max(len(ids) for each in texts for ids in each)
        ids = torch.full((len(texts), rows, length), config.pad_token_id)
        mask = torch.zeros(ids.shape, dtype=torch.long)
        for b, of_context in enumerate(texts):
            for k, of_entity in enumerate(of_context):
                ids[b, k, : len(of_entity)] = torch.tensor(of_entity)
                mask[b, k, : len(of_entity)] = 1
        states = self.network.get_encoder()(input_ids=ids.flatten(0, 1), attention_mask=mask.flatten(0, 1))[0]
        return Encoded(states.reshape(*ids.shape, -1), mask)

    def labels(self, replies: Sequence[Sequence[str]]) -> Tensor:
        """(B, T) pieces with the end; -100 behind it."""
        texts = [" ".join(reply).replace("_", " ") for reply in replies]
        each = [[*self._pieces(text)[: MOST_REPLY - 1], self.network.config.eos_token_id] for text in texts]
        found = torch.full((len(each), max(map(len, each))), _IGNORED)
        for b, ids in enumerate(each):
            found[b, : len(ids)] = torch.tensor(ids)
        return found

    def likelihood(self, states: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        """(B,) the mean log-likelihood of each reply's pieces, in nats."""
        read = BaseModelOutput(last_hidden_state=states)
        logits = self.network(encoder_outputs=read, attention_mask=mask, labels=labels).logits
        kept = labels != _IGNORED
        each = logits.log_softmax(2).gather(2, labels.clamp(min=0)[..., None])[..., 0]
        mean: Tensor = (each * kept).sum(1) / kept.sum(1)
        return mean

    def of_entities(self, read: Encoded, labels: Tensor) -> Tensor:
        """(B, K) of each reply with one entity alone (Eq. 3); -inf where there is none.

        The encoder's states are those of `encoded`: an entity's do not hang on the others.
        """
        rows = read.states.shape[1]
        states, mask = read.states.flatten(0, 1), read.mask.flatten(0, 1)
        found = self.likelihood(states, mask, labels.repeat_interleave(rows, 0)).reshape(-1, rows)
        return found.masked_fill(~read.mask.bool().any(2), -torch.inf)

    def loss(self, some: Sequence[Lesson], *, most_rows: int) -> Tensor:
        """The mean negative log-likelihood of the replies' pieces (Eq. 7)."""
        read = self.encoded([each.inputs for each in some], most_rows=most_rows)
        return -self.likelihood(*read.fused(), self.labels([each.reply for each in some])).mean()

    @torch.no_grad()
    def replies(self, inputs: Sequence[DialogueInputs]) -> list[list[str]]:
        """The words of the greedy reply to each."""
        was_training = self.network.training
        self.network.eval()
        found = []
        for start in range(0, len(inputs), _AT_ONCE):
            some = inputs[start : start + _AT_ONCE]
            found += [told.words for told in self._decoded(some, *self.encoded(some).fused(), penalty=0.0)]
        self.network.train(was_training)
        return found

    @torch.no_grad()
    def different(self, inputs: DialogueInputs, *, groups: int = 4, penalty: float = 1.0) -> list[Told]:
        """Replies to one context, the likeliest first: diverse beam search with groups of one beam.

        penalty: taken from the logit of a piece for each earlier group that told it at the same step.
        """
        self.network.eval()
        states, mask = self.encoded([inputs]).fused()
        fused = states.repeat(groups, 1, 1), mask.repeat(groups, 1)
        found = self._decoded([inputs] * groups, *fused, penalty=penalty)
        return sorted({tuple(told.words): told for told in reversed(found)}.values(), key=_unlikely)

    def _decoded(
        self, inputs: Sequence[DialogueInputs], states: Tensor, mask: Tensor, *, penalty: float
    ) -> list[Told]:
        """One reply to each, step by step; padding behind its end."""
        config = self.network.config
        read = BaseModelOutput(last_hidden_state=states)
        ids = torch.full((len(inputs), 1), config.decoder_start_token_id)
        ended, total = torch.zeros(len(inputs), dtype=torch.bool), torch.zeros(len(inputs))
        while ids.shape[1] <= MOST_REPLY and not ended.all():
            logits = self.network(encoder_outputs=read, attention_mask=mask, decoder_input_ids=ids).logits
            chances = logits[:, -1].log_softmax(1)
            chances[:, config.pad_token_id] = -torch.inf
            pieces = _chosen(chances, ended, penalty)
            total += torch.where(ended, 0.0, chances.gather(1, pieces)[:, 0])
            ids = torch.cat([ids, pieces.masked_fill(ended[:, None], config.pad_token_id)], 1)
            ended = ended | (pieces[:, 0] == config.eos_token_id)
        ids = ids[:, 1:]
        counts = (ids != config.pad_token_id).sum(1).clamp(min=1)
        texts = self._tokenizer.batch_decode(ids, skip_special_tokens=True)
        return [
            _told(text, each, float(score))
            for text, each, score in zip(texts, inputs, total / counts, strict=True)
        ]

    def _texts(self, inputs: DialogueInputs, most_rows: int) -> list[list[int]]:
        """The pieces of the context with each entity, or of the context alone."""
        names = [
            "system" if (len(inputs.utterances) - n) % 2 == 0 else "user"
            for n in range(len(inputs.utterances))
        ]
        said = [f"{who} : {text}" for who, text in zip(names, inputs.utterances, strict=True)]
        context = self._pieces(" ".join(said).replace("_", " "))[-MOST_CONTEXT:]
        end = [self.network.config.eos_token_id]
        rows = [self._pieces(_entity(row, inputs))[:MOST_ENTITY] for row in inputs.rows[:most_rows]]
        return [[*context, *row, *end] for row in rows or [[]]]

    def _pieces(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def facts(self) -> dict[str, Any]:
        """What is written beside the weights."""
        return {"model": self.network.config.model_type}


def _entity(row: Sequence[Cell], inputs: DialogueInputs) -> str:
    return "entity : " + " , ".join(f"{inputs.columns[cell.column]} {cell.value}" for cell in row).replace(
        "_", " "
    )


def _chosen(chances: Tensor, ended: Tensor, penalty: float) -> Tensor:
    """(B, 1) of each the likeliest; with a penalty, one after another."""
    if not penalty:
        return chances.argmax(1, keepdim=True)
    lowered, found = torch.zeros(chances.shape[1]), list[int]()
    for each, has_ended in zip(chances, ended, strict=True):
        found.append(int((each - lowered).argmax()))
        if not has_ended:
            lowered[found[-1]] += penalty
    return torch.tensor(found)[:, None]


def _told(text: str, inputs: DialogueInputs, score: float) -> Told:
    """A text as the words that the metrics and `ReplyWriter` read, values joined."""
    values = {cell.value for row in inputs.rows for cell in row} | set(inputs.words)
    words = spoken(text, values).split()
    return Told(words, [0 if word in values else -1 for word in words], score)


def _unlikely(told: Told) -> float:
    return -told.log_likelihood
