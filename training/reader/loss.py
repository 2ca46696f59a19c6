"""What the reader's heads lose on labelled windows."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everywhere

from training.reader.network import ReaderOutput

NO_LABEL = -1


class ReaderLoss(NamedTuple):
    """Sums over the labelled windows of a batch, in nats; scalars."""

    judge: Tensor
    spans: Tensor
    verify: Tensor
    sort: Tensor
    relate: Tensor

    def total(self) -> Tensor:
        """All heads together. A window counts for every label that it has."""
        return self.judge + self.spans + self.verify + self.sort + self.relate


def class_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy, summed over the rows that have a label.

    logits: (B, C). labels: (B,), NO_LABEL where unknown.
    """
    return F.cross_entropy(logits.float(), labels, ignore_index=NO_LABEL, reduction="sum")


def place_loss(logits: Tensor, right: Tensor, allowed: Tensor, counts: Tensor) -> Tensor:
    """How improbable the right places are, any of them being good, summed over the rows that count.

        L = Σ_b counts_b ( log Σ_{i allowed} exp z_bi  -  log Σ_{i right} exp z_bi )

    logits: (B, L). right, allowed: (B, L), true or false; every row has a right place that is allowed.
    counts: (B,), true or false.
    """
    logits = logits.float()
    every = logits.masked_fill(~allowed, -torch.inf).logsumexp(1)
    good = logits.masked_fill(~right, -torch.inf).logsumexp(1)
    return ((every - good) * counts).sum()


def reader_loss(output: ReaderOutput, labels: dict[str, Tensor]) -> ReaderLoss:
    """The loss of every head; `labels` holds the arrays of a LabelledBatch by name, and its `types`."""
    allowed = labels["types"].bool()
    allowed[:, 0] = True  # the place that says: no answer here
    starts = place_loss(output.starts, labels["starts"], allowed, labels["has_spans"])
    ends = place_loss(output.ends, labels["ends"], allowed, labels["has_spans"])
    return ReaderLoss(
        judge=class_loss(output.judge, labels["judge"]),
        spans=(starts + ends) / 2,
        verify=class_loss(output.verify, labels["verify"]),
        sort=class_loss(output.sort, labels["sort"]),
        relate=class_loss(output.relate, labels["relate"]),
    )
