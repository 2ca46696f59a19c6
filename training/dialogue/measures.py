"""How good replies of a task dialogue are: BLEU, the values that they tell, and Re@K of the entities.

Source: Dual-Feedback, section 7. Texts are lower-cased tokens between spaces, with values of several words
joined by `_`; references and predictions are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from assistant.learning.held_out.replies import ORDER, grams_of


def bleu(references: Sequence[str], predictions: Sequence[str]) -> float:
    """Corpus BLEU in percent: one reference each, 4-grams, no smoothing, brevity over the corpus; 0 to 100.

    The same as Moses' multi-bleu. Whoever wants values counted by their words replaces `_` by a space.
    """
    matched, told = [0] * ORDER, [0] * ORDER
    length = wanted = 0
    for reference, prediction in zip(references, predictions, strict=True):
        right, said = reference.lower().split(), prediction.lower().split()
        length, wanted = length + len(said), wanted + len(right)
        for n in range(1, ORDER + 1):
            grams, known = grams_of(said, n), grams_of(right, n)
            told[n - 1] += grams.total()
            matched[n - 1] += (grams & known).total()
    if not all(matched):
        return 0.0
    precision = sum(math.log(m / t) for m, t in zip(matched, told, strict=True)) / ORDER
    brevity = min(0.0, 1 - wanted / length)
    return 100 * math.exp(precision + brevity)


def bigram_overlap(reference: str, told: str, *, clipped: bool = True) -> float:
    """How much of a reply's pairs of words the reference has, less what it is shorter; 0 to 1.

    clipped: a pair counts at most as often as the reference has it; the released code of Dual-Feedback counts
    each. A reply of fewer than two words gets 0. Source: Dual-Feedback, section 5.3.
    """
    right, said = reference.lower().split(), told.lower().split()
    grams, known = grams_of(said, 2), grams_of(right, 2)
    if not grams:
        return 0.0
    hits = (grams & known).total() if clipped else sum(n for gram, n in grams.items() if gram in known)
    return hits / grams.total() * math.exp(min(0.0, 1 - len(right) / len(said)))


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


def values_covered(wanted: Collection[str], rows: Sequence[Collection[str]], k: int) -> float:
    """The share of wanted values that stand in any of the first k rows (Re@K); 0 to 1, 1 for none."""
    known = {value for row in rows[:k] for value in row}
    return sum(value in known for value in wanted) / len(wanted) if wanted else 1.0
