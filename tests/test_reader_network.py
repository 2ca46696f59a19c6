"""The reader's network: what of it learns, and what is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace

from agents.models.exporters.export_reader import LARGEST_MEAN_DIFFERENCE
from agents.models.exporters.onnx_export import latin_vocabulary
from agents.models.networks.pooling import mean_of_tokens
from agents.models.networks.reader_network import ReaderNetwork, base_network
from agents.models.reader import OnnxReader
from agents.models.reader_files import LARGE, SMALL
from agents.models.reader_inputs import ReaderTokenizer, batch_of
from assistant.learning.recipes.reader.served_weights import served_weights

WIDTH, LAYERS = 8, 2
CONFIG: dict[str, Any] = {
    "hidden_size": WIDTH,
    "vocab_size": 30,
    "max_position_embeddings": 12,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "num_hidden_layers": LAYERS,
}
HEADS = (3 + 3 + 4 + 5) * (2 * WIDTH + 1) + 2 * WIDTH + 2  # judge, verify, sort and relate; spans


def network() -> ReaderNetwork:
    torch.manual_seed(1)
    return ReaderNetwork(CONFIG)


def test_only_what_learns_is_shipped() -> None:
    made = network()
    # a layer: joined attention, its mix, two halves that widen and narrow, two norms
    layers = LAYERS * (WIDTH * 24 + 24 + WIDTH * 8 + 8 + WIDTH * 16 + 16 + 16 * 8 + 8 + 4 * 8)
    assert sum(value.numel() for value in made.own_weights().values()) == HEADS + layers
    learning = {name for name, value in made.named_parameters() if value.requires_grad}
    assert learning == made.own_weights().keys()


def test_the_mean_of_tokens_leaves_padding_out() -> None:
    states = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]]])
    assert mean_of_tokens(states, torch.tensor([[1, 1, 0]])).tolist() == [[2.0, 4.0]]
    assert mean_of_tokens(states, torch.tensor([[0, 0, 0]])).tolist() == [[0.0, 0.0]]


def test_an_mpnet_body_computes_what_transformers_computes(tmp_path: Path) -> None:
    """Of the lowest layers: places, distances and padding included."""
    config = transformers.MPNetConfig(
        vocab_size=40,
        hidden_size=WIDTH,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=302,
        initializer_range=0.5,
    )
    torch.manual_seed(3)
    original = transformers.MPNetModel(config).eval()
    original.save_pretrained(tmp_path)
    made = base_network(tmp_path, layers=2).eval()
    ids = torch.randint(2, 40, (2, 290), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 200:] = 0
    ids[mask == 0] = config.pad_token_id
    with torch.inference_mode():
        wanted = original(ids, mask, output_hidden_states=True).hidden_states[2]
        assert made.places is not None
        hidden = (1.0 - mask[:, None, None, :].float()) * -1e4 + made.places(290)
        states = made.embeddings(ids, torch.ones_like(ids))
        for layer in made.layers:
            states = layer(states, hidden)
    torch.testing.assert_close(states[mask == 1], wanted[mask == 1], atol=1e-4, rtol=1e-4)


def test_a_smaller_vocabulary_reads_its_words_as_the_whole_one_does(tmp_path: Path) -> None:
    words = ["<s>", "<pad>", "</s>", "[UNK]", "[unused1]", "cat", "猫", "##s", "–", "ж"]
    tokenizer = Tokenizer(WordPiece({w: n for n, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "[UNK]"])
    content = json.loads(tokenizer.to_str())
    old = latin_vocabulary(content)
    assert old == [0, 1, 2, 3, 5, 7, 8]
    smaller = ReaderTokenizer(json.dumps(content).encode())
    assert [old[i] for i in smaller.single("cats – cat 猫", limit=12).ids] == [0, 5, 7, 8, 5, 3, 2]
    made, whole = network(), network()
    made.keep_words(old)
    ids = torch.tensor([[0, 4, 5, 2]])
    kept, all_words = torch.tensor([old])[0][ids], torch.ones_like(ids)
    torch.testing.assert_close(
        made(ids, torch.zeros_like(ids), all_words).judge, whole(kept, torch.zeros_like(ids), all_words).judge
    )


def test_a_served_reader_becomes_weights_that_compute_nearly_the_same() -> None:
    made = base_network().eval()
    made.load_own_weights(served_weights(SMALL))
    served, tokenizer = OnnxReader(SMALL, threads=1), ReaderTokenizer(SMALL / "tokenizer.json")
    pair = tokenizer.tokens("when is it open?"), tokenizer.tokens("It opens at ten, and closes at six.")
    window = tokenizer.pair(*pair, 0, limit=64)
    batch = batch_of([window])
    with torch.inference_mode():
        found = made(*(torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask)))
    (wanted,) = served.logits([window])
    apart = [np.abs(values[0].numpy() - wanted[name]) for name, values in found._asdict().items()]
    assert np.concatenate(apart).mean() < LARGEST_MEAN_DIFFERENCE


def test_products_in_blocks_become_weights_around_zero() -> None:
    found = served_weights(LARGE)
    narrow = [value for name, value in found.items() if name.endswith("narrow.weight")]
    assert {value.shape for value in narrow} == {(768, 3072)}
    assert all(abs(value.mean()) < value.std() / 10 for value in narrow)
