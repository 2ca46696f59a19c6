"""Makes a chat model that says nothing sensible, small enough to be made and served within a test.

    python tests/tiny_llama.py FOLDER [LONGEST_TOKENS [HEAD_SIZE]]

A Llama of two layers with random weights, and a tokenizer trained on the lines below. It is a script
of its own, so that torch stays out of the process that runs the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

TEXT = """\
The harbour of Callao lies a few miles west of Lima, and ships have called there for centuries.
A river is a natural stream of water that flows towards an ocean, a lake, or another river.
What is remembered can be asked for again; what is forgotten must be found anew.
Bread is made of flour, water, salt and yeast, and it wants time more than anything else.
In winter the days are short, the nights are long, and the stars are easy to see.
A question well put is half an answer, and a good answer says where it comes from.
"""

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL_TOKENS = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
LONGEST_TOKENS = 4096
HEADS = 2


def make_tiny_llama(folder: Path, longest_tokens: int = LONGEST_TOKENS, head_size: int = 32) -> None:
    """Writes model and tokenizer as `transformers` loads them. head_size: vLLM wants 64."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    chat_tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        model_max_length=longest_tokens,
    )
    chat_tokenizer.chat_template = CHAT_TEMPLATE
    chat_tokenizer.save_pretrained(folder)

    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=HEADS * head_size,
            intermediate_size=2 * HEADS * head_size,
            num_hidden_layers=2,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            max_position_embeddings=longest_tokens,
            bos_token_id=None,
            eos_token_id=tokenizer.token_to_id("<|end|>"),
            pad_token_id=tokenizer.token_to_id("<|pad|>"),
        )
    )
    model.save_pretrained(folder)


if __name__ == "__main__":
    make_tiny_llama(Path(sys.argv[1]), *map(int, sys.argv[2:]))
