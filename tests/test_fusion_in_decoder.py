"""An encoder-decoder that reads each entity by itself: what it scores, and what it tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from agents.models.dialogue_inputs import DialogueInputs, dialogue_inputs
from assistant.learning.recipes.dialogue.lessons import Lesson
from stores.base.entities import Entity
from training.dialogue.fusion_in_decoder import FusionInDecoder

ROWS = [
    Entity("kiku_sushi", {"food": "japanese", "phone": "555_1"}),
    Entity("pho_lan", {"food": "vietnamese", "phone": "555_2"}),
    Entity("anatolia", {"food": "turkish"}),
]
TEXTS = ("kiku sushi is a japanese place , its phone is 555 1 2 : user system entity name food", "pho lan")
LESSONS = [
    ("japanese food", ("kiku_sushi", "is", "a", "japanese", "place")),
    ("vietnamese food", ("pho_lan", "is", "a", "vietnamese", "place")),
]


def inputs(*utterances: str, rows: int = 3) -> DialogueInputs:
    return dialogue_inputs(utterances, ROWS[:rows], {}, 1, {})


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of random weights, as a Hugging Face folder."""
    torch.manual_seed(1)
    made = tmp_path_factory.mktemp("t5")
    words = [
        "<pad>",
        "</s>",
        "<unk>",
        *dict.fromkeys(" ".join(TEXTS).split()),
        "vietnamese",
        "turkish",
        "anatolia",
    ]
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(made)
    shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    config = T5Config(vocab_size=len(words), decoder_start_token_id=0, dropout_rate=0.1, **shape)
    T5ForConditionalGeneration(config).save_pretrained(made)
    return made


@pytest.fixture
def model(folder: Path) -> FusionInDecoder:
    model = FusionInDecoder.load(folder)
    model.network.eval()
    return model


@torch.no_grad()
def test_an_entity_is_scored_as_if_it_were_alone(model: FusionInDecoder) -> None:
    asked = [inputs("japanese food please"), inputs("the phone ?", rows=1)]
    labels = model.labels([reply for _, reply in LESSONS])
    together = model.of_entities(model.encoded(asked), labels)
    assert together.shape == (2, 3)
    assert torch.isneginf(together[1, 1:]).all()  # there is no such entity
    for row in range(3):
        one = replace(asked[0], rows=asked[0].rows[row : row + 1])
        alone = model.likelihood(*model.encoded([one]).fused(), labels[:1])
        assert together[0, row].item() == pytest.approx(alone.item(), abs=1e-5)
    spread = together[0].max() - together[0].min()
    assert spread > 1e-4  # so it hangs on the entity


@torch.no_grad()
def test_with_one_entity_the_score_is_the_loss(model: FusionInDecoder) -> None:
    message, reply = LESSONS[0]
    lesson = Lesson(inputs(message), reply, (), "camrest", "restaurant")
    score = model.of_entities(model.encoded([lesson.inputs], most_rows=1), model.labels([reply]))
    assert model.loss([lesson], most_rows=1).item() == pytest.approx(-score.item(), abs=1e-6)


@pytest.mark.slow
def test_replies_are_different_and_the_likeliest_comes_first(model: FusionInDecoder) -> None:
    told = model.different(inputs("japanese food"))
    assert len({tuple(one.words) for one in told}) == len(told) > 1
    assert [one.log_likelihood for one in told] == sorted((one.log_likelihood for one in told), reverse=True)
    assert len(model.different(inputs("japanese food"), groups=1)) == 1


@pytest.mark.slow
def test_it_learns_to_copy_the_entity_that_is_asked_for(folder: Path) -> None:
    torch.manual_seed(2)
    model = FusionInDecoder.load(folder)
    lessons = [Lesson(inputs(said), reply, (), "camrest", "restaurant") for said, reply in LESSONS]
    optimizer = torch.optim.AdamW(model.network.parameters(), lr=3e-3)
    model.network.train()
    for _ in range(150):
        loss = model.loss(lessons, most_rows=3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert model.replies([lesson.inputs for lesson in lessons]) == [list(reply) for _, reply in LESSONS]
    assert model.network.training  # as it was
    [best, *_] = model.different(lessons[0].inputs)
    assert best.words == list(LESSONS[0][1])
    assert best.positions == [0, -1, -1, 0, -1]  # values of rows are told apart from words
    read = model.encoded([lessons[0].inputs])
    scored = model.likelihood(*read.fused(), model.labels([best.words]))
    assert scored.item() == pytest.approx(best.log_likelihood, abs=1e-4)  # as it was decoded
    scores = model.of_entities(read, model.labels([LESSONS[0][1]]))[0]
    assert scores[0] > scores[1]  # of the two that were told of, the reply names this one


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="config"):
        FusionInDecoder.load(tmp_path)
