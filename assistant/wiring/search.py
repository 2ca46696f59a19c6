"""Encoders, and what searches by their vectors."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.wiring.stores import Stores
from stores.base.errors import EncoderUnavailable, VouchError

if TYPE_CHECKING:
    from agents.base.interfaces import Encoder
    from agents.models.encoder import OnnxEncoder
    from agents.retrieval.retriever import Fusion, Retriever
    from assistant.search.searching import Searching
    from assistant.search.shared_indexes import SharedIndexes
    from stores.search.encoder_versions import EncoderVersion
    from stores.search.indexer import Indexer
    from stores.search.spaces import Spaces

QUERY_ENCODER = "query encoder"  # the role of a model that was trained for the live encoder's vectors
ENCODER_FILES = ("model.onnx", "tokenizer.json", "encoder.json")  # that one is loaded from


class Search(Stores):
    """What searches the stores: of each encoder version that has vectors there."""

    @property
    def searching(self) -> Searching:
        """What searches now: of the live encoder version, which another process may have changed."""
        live = self.encoder_versions.live()
        base = self._searching_by(self.wanted_encoder) if live is None else self.searching_with(live)
        return self._with_trained_queries(base)

    def searching_with(self, version: EncoderVersion) -> Searching:
        """What searches by a version that has vectors here, whether it is the live one or not."""
        return self._searchings.get(version.version) or self._searching_by(self._loaded(version))

    @property
    def encoder(self) -> Encoder:
        """The encoder whose vectors are searched."""
        return self.searching.encoder

    @property
    def spaces(self) -> Spaces:
        """What each user may search."""
        return self.searching.spaces

    @property
    def indexer(self) -> Indexer:
        """Brings the indexes up to what the database says."""
        return self.searching.indexer

    @cached_property
    def wanted_encoder(self) -> OnnxEncoder:
        """The encoder that the settings name, prepared on first use."""
        return self._prepared(self.settings.encoder.source)

    def retriever_keeping(self, encoder: Encoder, count: int) -> Retriever:
        """Finds so many passages, in spaces of the same encoder version."""
        from agents.retrieval.retriever import Retriever

        pool = max(self.settings.retrieval.pool, count)
        return Retriever(encoder, keep=count, pool=pool, fusion=self.fusion)

    @property
    def fusion(self) -> Fusion:
        """How signals become one score."""
        from agents.retrieval.retriever import Fusion

        retrieval = self.settings.retrieval
        return Fusion(
            dense_weight=retrieval.dense_weight,
            document_lift=retrieval.document_lift,
            conversation_lift=retrieval.conversation_lift,
            reply_lift=retrieval.reply_lift,
            speaker_bonus=retrieval.speaker_bonus,
            time_bonus=retrieval.time_bonus,
        )

    def discard_shared_index(self) -> Path | None:
        """Deletes the files of the index in use, which is derived; None where it has none here."""
        return self._indexes.discard(self.encoder.version)

    @cached_property
    def _searchings(self) -> dict[str, Searching]:
        """What was made to search, by encoder version."""
        return {}

    def _searching_by(self, encoder: Encoder) -> Searching:
        """All that searches with this encoder; made once a version."""
        if encoder.version in self._searchings:
            return self._searchings[encoder.version]
        from assistant.search.searching import Searching
        from stores.search.indexer import Indexer
        from stores.search.shared_index import SharedIndex
        from stores.search.spaces import Spaces

        indexes = self._indexes
        shared_index = SharedIndex(
            self.database,
            name=indexes.name,
            encoder_version=encoder.version,
            dimension=encoder.dimension,
            exact_up_to=indexes.exact_up_to,
            open_index=partial(indexes.open, encoder),
        )
        made = Searching(
            encoder,
            Spaces(
                self.database,
                encoder_version=encoder.version,
                dimension=encoder.dimension,
                shared_index=shared_index,
            ),
            self.retriever_keeping(encoder, self.settings.retrieval.candidates),
            Indexer(
                self.database,
                encoder_version=encoder.version,
                encode=encoder.encode_passages,
                shared_index=shared_index,
            ),
            shared_index,
        )
        self._searchings[encoder.version] = made
        return made

    def _searching_in(self, folder: Path) -> Searching:
        """What searches by the encoder of a folder; read once."""
        from agents.models.encoder import OnnxEncoder

        if (known := self._searchings.get(str(folder))) is None:
            encoder = OnnxEncoder(folder, threads=self.settings.encoder.threads)
            known = self._searchings[str(folder)] = self._searching_by(encoder)
        return known

    def _with_trained_queries(self, base: Searching) -> Searching:
        """The same with the query encoder that was trained for these vectors and is live, if there is one."""
        version = self.live_models.live(QUERY_ENCODER)
        known = self.live_models.known(QUERY_ENCODER, version) if version else None
        if known is None or known.details.get("encoder_version") != base.encoder.version:
            return base
        key = f"{base.encoder.version} {known.version}"
        if key not in self._searchings:
            try:
                self._searchings[key] = self._with_queries_by(
                    base,
                    self.checkpoints.verified("retriever", known.version, files=ENCODER_FILES),
                    known.version,
                )
            except VouchError as error:
                self._tell(f"{error.message}. Search goes on without it. {error.hint}")
                self._searchings[key] = base
        return self._searchings[key]

    def _with_queries_by(self, base: Searching, folder: Path, version: str = "") -> Searching:
        from agents.models.encoder import OnnxEncoder
        from agents.models.two_sided import TwoSidedEncoder

        queries = OnnxEncoder(folder, threads=self.settings.encoder.threads)
        encoder = TwoSidedEncoder(base.encoder, queries)
        retriever = self.retriever_keeping(encoder, self.settings.retrieval.candidates)
        return replace(base, encoder=encoder, retriever=retriever, trained_queries=version)

    @cached_property
    def _indexes(self) -> SharedIndexes:
        from assistant.search.shared_indexes import SharedIndexes

        return SharedIndexes(self.settings, self.locations.data, self.database)

    def _loaded(self, live: EncoderVersion) -> OnnxEncoder:
        """The encoder of a version that made vectors here."""
        from agents.models.encoder import OnnxEncoder
        from assistant.learning import dual_encoder_swap

        if kept := dual_encoder_swap.kept_as(live.source):
            folder = self.checkpoints.verified(dual_encoder_swap.RECIPE, kept) / "served"
            return OnnxEncoder(folder, threads=self.settings.encoder.threads)
        folder = self.locations.cache / "encoders" / live.version
        if self._wanted_version() == live.version:
            return self.wanted_encoder
        if folder.is_dir():
            return OnnxEncoder(folder, threads=self.settings.encoder.threads)
        encoder = self._prepared(live.source)
        if encoder.version != live.version:
            raise EncoderUnavailable(
                f"The encoder {live.version}, whose vectors are searched, cannot be loaded any more",
                hint="`vouch encoder --build` encodes everything with the one that the settings name.",
            )
        return encoder

    def _wanted_version(self) -> str:
        """What the settings name, as far as that can be had just now; empty otherwise."""
        try:
            return self.wanted_encoder.version
        except EncoderUnavailable as error:
            if self.encoder_versions.live() is None:
                raise
            self._tell(f"{error.message}. Search goes on with the encoder used before.")
            return ""

    def _prepared(self, source: str, *, threads: int | None = None) -> OnnxEncoder:
        from agents.models.encoder import OnnxEncoder, prepare_encoder

        folder = prepare_encoder(
            source or None,
            self.locations.cache / "encoders",
            tell=self._tell,
            offline=self._offline,
        )
        return OnnxEncoder(folder, threads=self.settings.encoder.threads if threads is None else threads)


def from_everywhere(source: str) -> str:
    """An encoder's source; where that is a folder, its whole path."""
    folder = Path(source).expanduser()
    return str(folder.resolve()) if source and folder.is_dir() else source
