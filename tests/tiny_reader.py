"""A small random reader and what torch makes of some pairs: python tests/tiny_reader.py BASE DIR PAIRS.json

BASE is a tiny BERT's folder. DIR gets reader.safetensors, reader.json and reference.npz: for each pair its
logits, computed one pair at a time. A process of its own, so that the tests never load torch.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from agents.models.reader_inputs import ReaderTokenizer, batch_of
from training.reader.network import base_network

WINDOW = 48

if __name__ == "__main__":
    base, folder, pairs = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
    network = base_network(base, seed=3).eval()
    for head in (network.judge, network.spans, network.verify, network.sort, network.relate):
        torch.nn.init.normal_(head.weight, std=0.5, generator=torch.Generator().manual_seed(5))
    weights = {name: value.half() for name, value in network.own_weights().items()}
    network.load_own_weights({name: value.float() for name, value in weights.items()})
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "reader.safetensors")
    facts = {
        "format": 2,
        "window": WINDOW,
        "temperatures": {"judge": 1.0, "spans": 2.0, "verify": 1.0, "sort": 1.0, "relate": 1.0},
    }
    (folder / "reader.json").write_text(json.dumps(facts))

    tokenizer, reference = ReaderTokenizer(base / "tokenizer.json"), {}
    for number, (first, second) in enumerate(pairs):
        tokens = tokenizer.tokens(first), tokenizer.tokens(second)
        batch = batch_of([tokenizer.pair(*tokens, 0, limit=WINDOW)])
        arrays = (torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask))
        with torch.inference_mode():
            output = network(*arrays)
        reference |= {f"{name}{number}": value[0].numpy() for name, value in output._asdict().items()}
    np.savez(folder / "reference.npz", **reference)
