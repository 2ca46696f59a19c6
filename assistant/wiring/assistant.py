"""Chooses implementations: this file and its `parts/` are the only ones that know them all.

    Stores <- Search <- Models <- Turns <- ShippedLearners <- Learning <- Assistant

Each adds its parts to those before it, and may use them. Each part is made when it is first asked for, so
that a command pays for what it uses and nothing else: listing memory loads no encoder, and a small shared
space opens no ChromaDB.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from assistant.learning.trained import RETRIEVER as RETRIEVER
from assistant.learning.trained import TRAINED as TRAINED
from assistant.wiring.learning import Learning
from assistant.wiring.learning import trainable as trainable
from assistant.wiring.search import ENCODER_FILES as ENCODER_FILES
from assistant.wiring.search import QUERY_ENCODER as QUERY_ENCODER
from assistant.wiring.search import from_everywhere
from stores.base.errors import StoreUnavailable

if TYPE_CHECKING:
    from assistant.search.encoder_change import BackgroundChange, EncoderChange

_ENCODED_AT_ONCE = 200  # passages that a start encodes anew without asking for patience


class Assistant(Learning):
    """The parts of one running Vouch."""

    _background_change: BackgroundChange | None = None

    def encoder_change(self, *, even_declined: bool = False) -> EncoderChange | None:
        """The change to the encoder that the settings name; None where that one is live.

        One that was stepped back from counts only when `even_declined`.
        """
        versions = self.encoder_versions
        live, wanted = versions.live(), self._wanted_version()
        if not wanted or (live is not None and live.version == wanted):
            return None
        if live is not None and live.trained_from == wanted:
            return None
        if versions.declined() == wanted and not even_declined:
            return None
        from assistant.search.encoder_change import EncoderChange
        from stores.search.encoder_versions import EncoderVersion

        encoder = self.wanted_encoder
        new = EncoderVersion(
            encoder.version, from_everywhere(self.settings.encoder.source), encoder.dimension
        )
        return EncoderChange(versions, new, lambda: self._searching_by(encoder))

    def catch_up(self, *, in_background: bool = False) -> None:
        """What a start owes the stores: an encoder that is live, and no job left waiting.

        in_background: an encoder that takes long to change is changed meanwhile, until `close`, and the query
        model is kept.
        """
        if in_background:
            self.keep_query_model()
        change = self.encoder_change()
        if change is not None:
            live = self.encoder_versions.live()
            if live is None or change.missing() <= _ENCODED_AT_ONCE:
                for _ in change.build():
                    pass
                if live is not None:
                    self._tell(f"The encoder changed from {live.version} to {change.new.version}.")
            else:
                self._tell(
                    f"The settings name another encoder, {change.new.version}: {change.cost().told()}. "
                    f"Until that is done, search goes on with {live.version}."
                )
                if in_background:
                    from assistant.search.encoder_change import BackgroundChange

                    self._tell("It is done while you chat.")
                    self._background_change = BackgroundChange(change, self._tell)
                    self._background_change.start()
                else:
                    self._tell("`vouch encoder --build` does it now; `vouch chat` does it while it is open.")
        from stores.forgetting.forgetting import Forgetting

        with suppress(StoreUnavailable):  # another process reads: the bytes go at the next start
            Forgetting(self.database).compact(patience_seconds=2)
        indexer = self.indexer
        indexer.catch_up()
        if indexer.hindrance is not None:
            self._tell(f"The shared index waits: {indexer.hindrance.message}. {indexer.hindrance.hint}")

    def close(self) -> None:
        made = self.__dict__
        if self._query_model is not None:
            self._query_model[1].close()
        if "background_learner" in made:
            self.background_learner.close()
        if self._background_change is not None:
            self._background_change.stop()
        if "host" in made:
            self.host.close()
        if "_indexes" in made:
            self._indexes.close()
        if "database" in made:
            self.database.close()
        if "this_process" in made:
            self.this_process.close()
        if self._directory_lock is not None:
            self._directory_lock.close()
