"""Two small random BERTs and what torch makes of some texts: python tests/tiny_bert.py DIR TEXTS.json

DIR/mean and DIR/cls get the layout of sentence-transformers, and reference.npy: the vectors of the
texts as passages. A process of its own, so that the tests never load torch.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

MAX_TOKENS = 16
PROMPTS = {"query": "ask: ", "document": "text: "}


def word_pieces() -> dict[str, int]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.:,?"
    words = ["the", "key", "is", "on", "table", "blue", "where", "ask", "text"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters, *(f"##{c}" for c in letters)]
    return {piece: i for i, piece in enumerate(pieces)}


def make_tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(piece, vocabulary[piece]) for piece in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def write_json(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def make_encoder(folder: Path, pooling: str) -> None:
    vocabulary = word_pieces()
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,  # wide enough that texts get vectors far apart
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    make_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    specials = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **specials})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", {"prompts": PROMPTS})
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in kinds]
    write_json(folder / "modules.json", modules)
    flags = {"pooling_mode_cls_token": pooling == "cls", "pooling_mode_mean_tokens": pooling == "mean"}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **flags})


def reference(folder: Path, pooling: str, texts: list[str]) -> np.ndarray:
    """One text at a time, so that no padding and no mask can be wrong."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        tokens = tokenizer(
            PROMPTS["document"] + text, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state[0]  # (L, D)
        pooled = states[0] if pooling == "cls" else states.mean(0)
        rows.append((pooled / pooled.norm()).numpy())
    return np.stack(rows)


if __name__ == "__main__":
    target, texts = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    for pooling in ("mean", "cls"):
        make_encoder(target / pooling, pooling)
        np.save(target / pooling / "reference.npy", reference(target / pooling, pooling, texts))
