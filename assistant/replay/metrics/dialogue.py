"""How good replies of a task dialogue are: BLEU, Entity-F1, and Re@K of the entities behind them.

Source: Dual-Feedback, section 7. Texts are lower-cased tokens between spaces, with values of several words
joined by `_`; references and predictions are treated alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

_ORDER = 4  # of the longest n-grams


def bleu(references: Sequence[str], predictions: Sequence[str]) -> float:
    """Corpus BLEU in percent: one reference each, 4-grams, no smoothing, brevity over the corpus; 0 to 100.

    The same as Moses' multi-bleu. Whoever wants values counted by their words replaces `_` by a space.
    """
    matched, told = [0] * _ORDER, [0] * _ORDER
    length = wanted = 0
    for reference, prediction in zip(references, predictions, strict=True):
        right, said = reference.lower().split(), prediction.lower().split()
        length, wanted = length + len(said), wanted + len(right)
        for n in range(1, _ORDER + 1):
            grams, known = _grams(said, n), _grams(right, n)
            told[n - 1] += grams.total()
            matched[n - 1] += (grams & known).total()
    if not all(matched):
        return 0.0
    precision = sum(math.log(m / t) for m, t in zip(matched, told, strict=True)) / _ORDER
    brevity = min(0.0, 1 - wanted / length)
    return 100 * math.exp(precision + brevity)


def bigram_overlap(reference: str, told: str, *, clipped: bool = True) -> float:
    """How much of a reply's pairs of words the reference has, less what it is shorter; 0 to 1.

    clipped: a pair counts at most as often as the reference has it; the released code of Dual-Feedback counts
    each. A reply of fewer than two words gets 0. Source: Dual-Feedback, section 5.3.
    """
    right, said = reference.lower().split(), told.lower().split()
    grams, known = _grams(said, 2), _grams(right, 2)
    if not grams:
        return 0.0
    hits = (grams & known).total() if clipped else sum(n for gram, n in grams.items() if gram in known)
    return hits / grams.total() * math.exp(min(0.0, 1 - len(right) / len(said)))


def sentence_bleu(reference: str, told: str) -> float:
    """BLEU of one reply, 4-grams, one added to each count; 0 to 1."""
    right, said = reference.lower().split(), told.lower().split()
    if not said:
        return 0.0
    total = 0.0
    for n in range(1, _ORDER + 1):
        grams = _grams(said, n)
        total += math.log(((grams & _grams(right, n)).total() + 1) / (grams.total() + 1))
    return math.exp(total / _ORDER + min(0.0, 1 - len(right) / len(said)))


def values_in(text: str, values: Collection[str], *, removes: bool) -> set[str]:
    """The values of a knowledge base that a text tells, as the reference extracts them.

    A value counts where it stands anywhere in the text, the longest first. removes: what was found is taken
    out of the text (MultiWOZ); else a value that stands in one found already is passed over (CamRest, SMD).
    """
    left, found = f" {text.lower()} ", set[str]()
    for value in sorted({value.lower() for value in values}, key=lambda value: (-len(value), value)):
        if value not in left or (not removes and any(value in longer for longer in found)):
            continue
        found.add(value)
        if removes:
            left = left.replace(value, " ")
    return found


def entity_f1(
    right: Sequence[Collection[str]], told: Sequence[Collection[str]], *, strict: bool = False
) -> float:
    """Micro-averaged F1 in percent of the values that replies tell, a set a turn; 0 to 100.

    Turns that should tell none are passed over, as the reference does. strict: what is told there counts
    as wrong.
    """
    hits = missed = wrong = 0
    for wanted, found in zip(map(set, right), map(set, told), strict=True):
        if not wanted and not strict:
            continue
        hits += len(wanted & found)
        missed += len(wanted - found)
        wrong += len(found - wanted)
    return 200 * hits / max(1, 2 * hits + missed + wrong)


def values_covered(wanted: Collection[str], rows: Sequence[Collection[str]], k: int) -> float:
    """The share of wanted values that stand in any of the first k rows (Re@K); 0 to 1, 1 for none."""
    known = {value for row in rows[:k] for value in row}
    return sum(value in known for value in wanted) / len(wanted) if wanted else 1.0


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
