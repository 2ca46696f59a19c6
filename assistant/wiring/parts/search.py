"""Encoders, and what searches by their vectors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.wiring.parts.given import Given
from assistant.wiring.parts.kept import loaded
from assistant.wiring.parts.stores import Stores
from assistant.wiring.parts.trained import COLLECTIONS
from stores.base.errors import EncoderUnavailable, VouchError
from stores.search.encoder_versions import ENCODER_ROLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.base.interfaces import Encoder, Vectors
    from agents.languages.signs import Languages
    from agents.models.encoders.adapted_encoder import AdaptedEncoder
    from agents.models.encoders.two_halves import TwoHalves
    from agents.retrieval.retriever import Fusion, Retriever
    from assistant.scale.spread import Spread
    from assistant.search.adapted import Adapted
    from assistant.search.searching import Searching
    from assistant.search.shared_indexes import SharedIndexes
    from stores.search.adapted_vectors import AdaptedVectors
    from stores.search.encoder_versions import EncoderVersion
    from stores.search.indexer import Indexer
    from stores.search.spaces import Spaces

QUERY_ENCODER = "query encoder"  # the role of a model that was trained for the live encoder's vectors
_ENCODED_AT_ONCE = 256  # passages under adapters, as nobody is to wait long for a start
ENCODER_FILES = ("model.onnx", "tokenizer.json", "encoder.json")  # that one is loaded from


class Search:
    """What searches the stores: of each encoder version that has vectors there."""

    def __init__(self, given: Given, stores: Stores) -> None:
        self.given, self._stores = given, stores

    @property
    def searching(self) -> Searching:
        """What searches now: of the live encoder version, which another process may have changed."""
        return self.with_live_adapters(self._with_trained_queries(self._searching_untrained))

    @property
    def _searching_untrained(self) -> Searching:
        """The same without a query encoder that was trained for it."""
        return self.searching_by(self._stores.encoder_versions.live())

    def searching_by(self, version: EncoderVersion | None) -> Searching:
        """What searches by this version; None: by what the settings name."""
        return self.searching_of(self.wanted_encoder) if version is None else self.searching_with(version)

    def discard_index(self, version: str) -> object:
        """Deletes the files of an encoder version's index."""
        return self._indexes.discard(version)

    def searching_with(self, version: EncoderVersion) -> Searching:
        """What searches by a version that has vectors here, whether it is the live one or not."""
        return self._searchings.get(version.version) or self.searching_of(self._loaded(version))

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
    def wanted_encoder(self) -> Encoder:
        """The encoder that the settings name, prepared on first use."""
        from agents.models.encoders.multilingual import MultilingualEncoder
        from agents.models.encoders.two_halves import TwoHalves
        from agents.models.heads import LanguageHeads

        named = self.given.settings.encoder
        first = self.prepared(named.source)
        if not named.second_source:
            return first
        second = self.prepared(named.second_source)
        languages = LanguageHeads(second) if isinstance(second, MultilingualEncoder) else None
        return TwoHalves(first, second, named.second_share, languages)

    @property
    def languages(self) -> Languages | None:
        """What tells languages apart; None without the multilingual half."""
        return None if self.halves is None else self.halves.languages

    @property
    def halves(self) -> TwoHalves | None:
        """The encoder that the settings name, where it has two halves and can be had."""
        from agents.models.encoders.two_halves import TwoHalves

        with suppress(EncoderUnavailable):
            return self.wanted_encoder if isinstance(self.wanted_encoder, TwoHalves) else None
        return None

    def retriever_keeping(self, encoder: Encoder, count: int) -> Retriever:
        """Finds so many passages, in spaces of the same encoder version."""
        from agents.retrieval.retriever import Retriever

        pool = max(self.given.settings.retrieval.pool, count)
        return Retriever(encoder, keep=count, pool=pool, fusion=self.fusion)

    @property
    def fusion(self) -> Fusion:
        """How signals become one score."""
        from agents.retrieval.retriever import Fusion

        retrieval = self.given.settings.retrieval
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

    def searching_of(self, encoder: Encoder) -> Searching:
        """All that searches with this encoder; made once a version."""
        if encoder.version in self._searchings:
            return self._searchings[encoder.version]
        from agents.models.encoders.two_halves import TwoHalves
        from assistant.search.searching import Searching
        from stores.search.indexer import Indexer
        from stores.search.shared_index import SharedIndex
        from stores.search.spaces import Spaces

        indexes = self._indexes
        shared_index = SharedIndex(
            self._stores.database,
            name=indexes.name,
            encoder_version=encoder.version,
            dimension=encoder.dimension,
            exact_up_to=indexes.exact_up_to,
            open_index=partial(indexes.open, encoder),
        )
        made = Searching(
            encoder,
            Spaces(
                self._stores.database,
                encoder_version=encoder.version,
                dimension=encoder.dimension,
                shared_index=shared_index,
            ),
            self.retriever_keeping(encoder, self.given.settings.retrieval.candidates),
            Indexer(
                self._stores.database,
                encoder_version=encoder.version,
                encode=self.spread(encoder).encode_passages,
                shared_index=shared_index,
                at_once=self.texts_at_once,
            ),
            shared_index,
            second=encoder.second if isinstance(encoder, TwoHalves) else None,
        )
        self._searchings[encoder.version] = made
        return made

    def spread(self, encoder: Encoder) -> Encoder:
        """The same for many passages: by workers elsewhere, where the settings have them."""
        if self.given.settings.scale.engine == "here":
            return encoder
        if encoder.version not in self._spread:
            from assistant.scale.spread import spread
            from assistant.wiring.parts.bulk import SpreadEncoder, making

            workers = spread(making(self.given, encoder.version), self.given.settings.scale)
            self._workers.append(workers)
            self._spread[encoder.version] = SpreadEncoder(encoder, workers)
        return self._spread[encoder.version]

    @property
    def texts_at_once(self) -> int:
        """Texts of one step of bulk work: what each worker has, and its next."""
        from stores.search.indexer import TEXTS_AT_ONCE

        scale = self.given.settings.scale
        if scale.engine == "here":
            return TEXTS_AT_ONCE
        from assistant.scale.spread import workers_of

        return 2 * workers_of(scale) * TEXTS_AT_ONCE

    def encoder_of(self, version: str) -> Encoder:
        """The encoder of this version: the one that the settings name, or one that made vectors here."""
        known = self._stores.encoder_versions.known(version)
        if known is None or self.wanted_version() == version:
            return self.wanted_encoder
        return self._loaded(known)

    @cached_property
    def _spread(self) -> dict[str, Encoder]:
        """By encoder version."""
        return {}

    @cached_property
    def _workers(self) -> list[Spread[Sequence[str], Vectors]]:
        return []

    def searching_in(self, folder: Path) -> Searching:
        """What searches by the encoder of a folder, as the first half where there are two; read once."""
        from agents.models.encoders.two_halves import with_first_half

        if (known := self._searchings.get(str(folder))) is None:
            encoder = with_first_half(self._searching_untrained.encoder, self._opened(folder))
            known = self._searchings[str(folder)] = self.searching_of(encoder)
        return known

    def _with_trained_queries(self, base: Searching) -> Searching:
        """The same with the query encoder that was trained for these vectors and is live, if there is one."""
        version = self._stores.live_models.live(QUERY_ENCODER)
        known = self._stores.live_models.known(QUERY_ENCODER, version) if version else None
        if known is None or known.details.get("encoder_version") != base.encoder.version:
            return base
        key = f"{base.encoder.version} {known.version}"
        if key not in self._searchings:
            try:
                self._searchings[key] = self.with_queries_by(
                    base,
                    self._stores.checkpoints.verified("retriever", known.version, files=ENCODER_FILES),
                    known.version,
                )
            except VouchError as error:
                self.given.tell(f"{error.message}. Search goes on without it. {error.hint}")
                self._searchings[key] = base
        return self._searchings[key]

    def with_queries_by(self, base: Searching, folder: Path, version: str = "") -> Searching:
        from agents.models.encoders.two_halves import with_first_half
        from agents.models.encoders.two_sided import TwoSidedEncoder

        queries = with_first_half(base.encoder, self._opened(folder))
        encoder = TwoSidedEncoder(base.encoder, queries)
        retriever = self.retriever_keeping(encoder, self.given.settings.retrieval.candidates)
        return replace(base, encoder=encoder, retriever=retriever, trained_queries=version)

    # Collections that have learned

    @cached_property
    def adapted_vectors(self) -> AdaptedVectors:
        """What passages are under the adapters of their collections."""
        from stores.search.adapted_vectors import AdaptedVectors

        return AdaptedVectors(self._stores.database)

    def adapted_in(self, folder: Path, encoder_version: str) -> Adapted:
        """The adapters of a candidate's folder, for the vectors of this encoder version."""
        from agents.models.encoders.two_halves import first_version
        from assistant.search.adapted import Adapted, read_adapters

        return Adapted(
            read_adapters(folder, encoder_version=first_version(encoder_version)),
            self.adapted_vectors,
            lambda: self._adapted_encoder(encoder_version),
            lambda question: self.languages is None or self.languages.is_english(question),
            self._tell_once,
        )

    def _tell_once(self, error: VouchError) -> None:
        """That it is searched without adapters, and why."""
        if error.message not in self._told:
            self._told.add(error.message)
            self.given.tell(f"{error.message}. Search goes on without adapters. {error.hint}")

    @cached_property
    def _told(self) -> set[str]:
        return set()

    def searching_with_adapters(self, base: Searching, adapted: Adapted) -> Searching:
        """The same with these collections that have learned."""
        return replace(base, retriever=base.retriever.with_adapted(adapted))

    @property
    def live_adapters(self) -> Adapted | None:
        """Those that answer; None where there are none, or the settings have collections not learn."""
        if not self.given.settings.learning.collections:
            return None
        searched = self._stores.encoder_versions.live()
        version = self._stores.live_models.live(COLLECTIONS.role)
        known = self._stores.live_models.known(COLLECTIONS.role, version) if version else None
        if searched is None or known is None or known.details.get("encoder_version") != searched.version:
            return None
        if known.version not in self._adapted:
            try:
                folder = self._stores.checkpoints.verified(COLLECTIONS.recipe, known.version)
                self._adapted[known.version] = self.adapted_in(folder, searched.version)
            except VouchError as error:
                self.given.tell(f"{error.message}. Search goes on without it. {error.hint}")
                self._adapted[known.version] = None
        return self._adapted[known.version]

    def adapters_in_use(self) -> set[str]:
        """The versions of adapters that answer, or did so before the last step."""
        models, found = self._stores.live_models, set[str]()
        for version in (models.live(COLLECTIONS.role), models.previous(COLLECTIONS.role)):
            known = models.known(COLLECTIONS.role, version) if version else None
            with suppress(VouchError):
                if known is not None and (of := str(known.details.get("encoder_version", ""))):
                    folder = self._stores.checkpoints.verified(COLLECTIONS.recipe, known.version)
                    found |= set(self.adapted_in(folder, of).versions.values())
        return found

    def encode_adapted(self) -> None:
        """Encodes some of what was added to collections that have learned, and tells where it cannot."""
        try:
            if (adapted := self.live_adapters) is not None:
                adapted.encode_missing(most=_ENCODED_AT_ONCE)
        except VouchError as error:
            self._tell_once(error)

    def with_live_adapters(self, base: Searching) -> Searching:
        """The same with the collections that have learned, if there are some."""
        if (adapted := self.live_adapters) is None:
            return base
        version = self._stores.live_models.live(COLLECTIONS.role) or ""
        return replace(self.searching_with_adapters(base, adapted), adapters=version)

    @cached_property
    def _adapted(self) -> dict[str, Adapted | None]:
        """By version of the candidate."""
        return {}

    @cached_property
    def _adapted_encoders(self) -> dict[str, AdaptedEncoder]:
        """By version of the encoder."""
        return {}

    def _adapted_encoder(self, version: str) -> AdaptedEncoder:
        """The form of an encoder that takes adapters, prepared on first use. Raises `EncoderUnavailable`."""
        if (failed := self._adapted_failures.get(version)) is not None:
            raise failed  # not tried again with each question
        if version not in self._adapted_encoders:
            try:
                self._adapted_encoders[version] = self._prepared_for_adapters(version)
            except EncoderUnavailable as error:
                self._adapted_failures[version] = error
                raise
        return self._adapted_encoders[version]

    @cached_property
    def _adapted_failures(self) -> dict[str, EncoderUnavailable]:
        """By version, why there is none."""
        return {}

    def _prepared_for_adapters(self, version: str) -> AdaptedEncoder:
        from agents.models.encoders.adapted_encoder import AdaptedEncoder
        from agents.models.encoders.prepared import ADAPTED, prepare_encoder
        from agents.models.encoders.two_halves import first_version

        live = self._stores.encoder_versions.live()
        source = self.weights_of(live if live is not None and live.version == version else None)
        folder = prepare_encoder(
            None if source is None else str(source),
            self.given.locations.cache / "adapted-encoders",
            tell=self.given.tell,
            offline=self.given.offline,
            exporter=ADAPTED,
        )
        made = AdaptedEncoder(folder, threads=self.given.settings.encoder.threads)
        if made.version.rpartition("-")[2] != first_version(version).rpartition("-")[2]:
            raise EncoderUnavailable(f"The weights of {version} are not here any more")
        return made

    def weights_of(self, version: EncoderVersion | None) -> Path | None:
        """The folder with the weights of an encoder; None for the packaged one. Raises `EncoderUnavailable`.

        version: None: of the one that the settings name.
        """
        if version is not None and version.kept_as:
            return self._stores.checkpoints.verified(ENCODER_ROLE, version.kept_as)
        source = self.given.settings.encoder.source if version is None else version.source
        return weights_at(source) if source else None

    @cached_property
    def _indexes(self) -> SharedIndexes:
        from assistant.search.shared_indexes import SharedIndexes

        return SharedIndexes(self.given.settings, self.given.locations.data, self._stores.database)

    def _loaded(self, live: EncoderVersion) -> Encoder:
        """The encoder of a version that made vectors here."""
        from agents.models.encoders.two_halves import TwoHalves, halves_of

        is_trained = bool(live.kept_as)
        if not is_trained and self.wanted_version() == live.version:
            return self.wanted_encoder
        halves = halves_of(live.version)
        if halves is None:
            return self._half(live, live.version)
        first, second, share = halves
        second_half = self._half(live, second, is_second=True)
        return TwoHalves(self._half(live, first), second_half, share, self.languages)

    def _half(self, live: EncoderVersion, version: str, *, is_second: bool = False) -> Encoder:
        """One half of an encoder that made vectors here, or the whole of one that has none."""
        if not is_second and (kept := live.kept_as):
            return self._opened(self._stores.checkpoints.verified(ENCODER_ROLE, kept) / "served")
        if is_second and self.halves is not None and self.halves.second.version == version:
            return self.halves.second
        folder = self.given.locations.cache / "encoders" / version
        if folder.is_dir():
            return self._opened(folder)
        encoder = self.prepared(self.given.settings.encoder.second_source if is_second else live.source)
        if encoder.version != version:
            raise EncoderUnavailable(
                f"The encoder {live.version}, whose vectors are searched, cannot be loaded any more",
                hint="`vouch encoder --build` encodes everything with the one that the settings name.",
            )
        return encoder

    def close(self) -> None:
        for workers in self._workers:
            workers.close()
        if "_indexes" in self.__dict__:
            self._indexes.close()

    def wanted_version(self) -> str:
        """What the settings name, as far as that can be had just now; empty otherwise."""
        try:
            return self.wanted_encoder.version
        except EncoderUnavailable as error:
            if self._stores.encoder_versions.live() is None:
                raise
            self.given.tell(f"{error.message}. Search goes on with the encoder used before.")
            return ""

    def prepared(self, source: str) -> Encoder:
        from agents.models.encoders.prepared import prepare_encoder

        folder = prepare_encoder(
            source or None,
            self.given.locations.cache / "encoders",
            tell=self.given.tell,
            offline=self.given.offline,
        )
        return self._opened(folder)

    def _opened(self, folder: Path) -> Encoder:
        from agents.models.encoders.prepared import open_encoder

        threads = self.given.settings.encoder.threads
        return loaded("encoder", folder, threads, lambda: open_encoder(folder, threads=threads))


def weights_at(source: str) -> Path:
    """The folder with the weights of an encoder that the settings name. Raises `EncoderUnavailable`."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, local_files_only=True))  # it is there: it was exported
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(f"The weights of {source} are not here any more: {error}") from error


def from_everywhere(source: str) -> str:
    """An encoder's source; where that is a folder, its whole path."""
    folder = Path(source).expanduser()
    return str(folder.resolve()) if source and folder.is_dir() else source
