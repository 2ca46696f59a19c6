"""Two small random cross-encoders and torch's scores: python tests/tiny_cross_encoders.py DIR TEXTS.json

DIR/bert has one logit and two types, DIR/xlmr three named classes, no types and a Unigram tokenizer. Each
reference.json holds the scores of the texts for the first of them. A process of its own, so that the tests
never load torch.
"""

import json
import sys
from pathlib import Path

import torch
from tiny_bert import make_tokenizer, word_pieces, write_json
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

WINDOW = 64
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "initializer_range": 0.3,  # wide enough that texts get scores far apart
}


def make_bert(folder: Path) -> None:
    vocabulary = word_pieces()
    torch.manual_seed(7)
    config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=WINDOW, num_labels=1, **SIZES)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer = make_tokenizer(vocabulary)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(piece, vocabulary[piece]) for piece in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    specials = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **specials})


def make_xlmr(folder: Path) -> None:
    controls = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.:,?</>"
    words = ["▁the", "▁key", "▁is", "▁on", "▁table", "▁blue", "▁where"]
    pieces = [(piece, 0.0) for piece in controls] + [(word, -2.0) for word in ["▁", *words]]
    pieces += [(letter, -3.0) for letter in letters] + [("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer.add_special_tokens([*controls, "<mask>"])
    torch.manual_seed(8)
    names = ["contradiction", "entailment", "neutral"]
    config = XLMRobertaConfig(
        vocab_size=len(pieces),
        max_position_embeddings=WINDOW + 2,  # positions are counted from 2, the place after the padding's
        type_vocab_size=1,
        id2label=dict(enumerate(names)),
        label2id={name: place for place, name in enumerate(names)},
        **SIZES,
    )
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    specials = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **specials})


def reference(
    folder: Path, question: str, passage: str, frame: tuple[list[int], list[int], list[int]]
) -> float:
    """Window after window, put together by hand: no padding, no mask and no batch."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    asked, told = (tokenizer.encode(text, add_special_tokens=False).ids for text in (question, passage))
    begin, between, end = frame
    head = [*begin, *asked, *between]
    room = WINDOW - len(head) - len(end)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    scores, at = [], 0
    while True:
        ids = [*head, *told[at : at + room], *end]
        types = [0] * len(head) + [1] * (len(ids) - len(head))
        own = {"token_type_ids": torch.tensor([types])} if model.config.type_vocab_size > 1 else {}
        with torch.inference_mode():
            logits = model(torch.tensor([ids]), **own).logits[0]
        useful = torch.sigmoid(logits[0]) if len(logits) == 1 else torch.softmax(logits, 0)[1]
        scores.append(float(useful))
        if at + room >= len(told):
            return max(scores)
        at += room - room // 2  # half of a window this small is the neighbour's as well


if __name__ == "__main__":
    target, (question, *passages) = (
        Path(sys.argv[1]),
        json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")),
    )
    make_bert(target / "bert")
    make_xlmr(target / "xlmr")
    for name, frame in {"bert": ([2], [3], [3]), "xlmr": ([0], [2, 2], [2])}.items():
        scores = [reference(target / name, question, passage, frame) for passage in passages]
        write_json(target / name / "reference.json", scores)
