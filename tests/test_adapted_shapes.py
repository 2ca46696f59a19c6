"""Encoders of other shapes take adapters, by either pooling; one that is no BERT is refused beforehand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tiny_bert import make_tokenizer, word_pieces, write_json
from tiny_sources import TEXTS
from transformers import BertConfig, BertModel

from agents.models.encoders.adapted_encoder import AdaptedEncoder, Adapter
from agents.models.encoders.prepared import ADAPTED, prepare_encoder
from agents.models.exporters.export_adapted import drawn, frozen
from agents.models.exporters.export_encoder import read_source
from agents.models.networks.adapted_bert import Bert
from assistant.learning.recipes.collections.recipe import lacks
from assistant.settings.config import LearningSettings, Settings
from stores.base.errors import EncoderUnavailable


def make(folder: Path, *, layers: int, width: int, heads: int, inner: int) -> Path:
    vocabulary = word_pieces()
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=40,
        layer_norm_eps=1e-6,
        initializer_range=0.5,
    )
    BertModel(config, add_pooling_layer=True).save_pretrained(folder)
    make_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    specials = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **specials})
    return folder


def like_contriever(folder: Path) -> Path:
    """A BERT alone, of which the mean of the tokens is taken."""
    return make(folder, layers=3, width=24, heads=3, inner=40)


def like_bge(folder: Path) -> Path:
    """With modules of sentence-transformers: the first token, and a prompt before questions alone."""
    make(folder, layers=4, width=48, heads=4, inner=64)
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in kinds]
    write_json(folder / "modules.json", modules)
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    write_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "where is the: "}})
    return folder


@pytest.fixture(scope="module", params=[like_contriever, like_bge])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = request.param(tmp_path_factory.mktemp("source") / request.param.__name__)
    return made


@pytest.fixture(scope="module")
def served(source: Path, tmp_path_factory: pytest.TempPathFactory) -> AdaptedEncoder:
    cache = tmp_path_factory.mktemp("cache")
    return AdaptedEncoder(
        prepare_encoder(str(source), cache, tell=lambda _: None, offline=True, exporter=ADAPTED)
    )


def expected(bert: Bert, source: Path, text: str, adapter: Any) -> np.ndarray[Any, Any]:
    """A text alone, so that no padding and no mask can be wrong."""
    tokenizer = make_tokenizer(word_pieces())
    tokenizer.enable_truncation(read_source(source, "x").max_tokens)
    ids = torch.tensor([tokenizer.encode(text).ids])
    mask = torch.ones_like(ids)
    vectors: np.ndarray[Any, Any] = bert.upper(bert.lower(ids, mask), mask, adapter)[0].numpy()
    return vectors


@pytest.mark.slow
def test_passages_and_questions_are_what_torch_says_with_and_without_an_adapter(
    source: Path, served: AdaptedEncoder
) -> None:
    described = read_source(source, "x")
    bert = frozen(described)
    assert described.pooling == ("cls" if source.name == "like_bge" else "mean")
    down, up = drawn(bert, 4, seed=1)
    adapter = Adapter.of(down.numpy(), up.numpy(), encoder_version=served.version)
    assert adapter.down.shape == (len(bert.upper_layers), 2, 4, bert.width)
    tensors = {
        f"{kind}.{n}.{part}": given[i, k]
        for i, n in enumerate(bert.upper_layers)
        for k, kind in enumerate(("query", "value"))
        for part, given in (("down", down), ("up", up))
    }
    plain, adapted = served.encode_passages(TEXTS), served.encode_passages_under(TEXTS, adapter)
    for text, one, other in zip(TEXTS, plain, adapted, strict=True):
        np.testing.assert_allclose(one, expected(bert, source, text, {}), atol=1e-5)
        np.testing.assert_allclose(other, expected(bert, source, text, tensors), atol=1e-5)
    assert np.abs(plain - adapted).max() > 1e-2
    asked = served.encode_query("key", [adapter])[0]
    prefix = "where is the: " if source.name == "like_bge" else ""
    np.testing.assert_allclose(asked, expected(bert, source, f"{prefix}key", tensors), atol=1e-5)


def parts_with(folder: Path | None, *, collections: bool = True) -> Any:
    def weights(version: object) -> Path | None:
        if folder is not None and not folder.exists():
            raise EncoderUnavailable("gone")
        return folder

    settings = Settings(learning=LearningSettings(collections=collections))
    return SimpleNamespace(
        given=SimpleNamespace(settings=settings),
        stores=SimpleNamespace(encoder_versions=SimpleNamespace(live=lambda: None)),
        search=SimpleNamespace(weights_of=weights),
    )


def test_what_is_no_bert_is_refused_before_a_round(tmp_path: Path) -> None:
    for place in ("", "0_Transformer"):
        folder = tmp_path / f"mpnet{place}"
        write_json(folder / place / "config.json", {"model_type": "mpnet"})
        if place:
            write_json(
                folder / "modules.json", [{"type": "sentence_transformers.models.Transformer", "path": place}]
            )
        told = lacks(parts_with(folder))
        assert told is not None
        assert "mpnet" in told[0]
        assert "encoder.source" in told[1]
    (folder / "modules.json").write_text("[")
    assert lacks(parts_with(folder)) is not None


def test_a_bert_the_packaged_one_and_what_cannot_be_read_are_not(tmp_path: Path) -> None:
    write_json(tmp_path / "bert" / "config.json", {"model_type": "bert"})
    assert lacks(parts_with(tmp_path / "bert")) is None
    assert lacks(parts_with(None)) is None
    assert lacks(parts_with(tmp_path / "gone")) is None  # which the round tells better
    told = lacks(parts_with(None, collections=False))
    assert told == ("collections do not learn", "Set learning.collections to true.")
