"""Chooses implementations: this folder alone knows them all.

    Given -> Stores -> Search -> Models -> Turns
                              -> Learning

Each part is handed those that it needs. What is in a part is made when it is first asked for, so that a
command pays for what it uses and nothing else: listing memory loads no encoder, and a small shared space
opens no ChromaDB.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from assistant.settings.config import Settings
from assistant.settings.locations import Locations
from assistant.wiring.parts.given import Given
from assistant.wiring.parts.models import Models
from assistant.wiring.parts.search import ENCODER_FILES as ENCODER_FILES
from assistant.wiring.parts.search import QUERY_ENCODER as QUERY_ENCODER
from assistant.wiring.parts.search import Search, from_everywhere
from assistant.wiring.parts.stores import Stores
from assistant.wiring.parts.turns import Turns
from stores.base.errors import StoreUnavailable

if TYPE_CHECKING:
    from assistant.search.encoder_change import BackgroundChange, EncoderChange
    from assistant.wiring.learning import Learning

_ENCODED_AT_ONCE = 200  # passages that a start encodes anew without asking for patience


class Assistant:
    """The parts of one running Vouch."""

    def __init__(
        self,
        settings: Settings,
        locations: Locations,
        *,
        api_key: str = "",
        offline: bool = False,
        tell: Callable[[str], None] = lambda sentence: None,
        search: Callable[[Given, Stores], Search] = Search,
        models: Callable[[Given, Stores, Search], Models] = Models,
    ) -> None:
        """tell: is given a sentence for the person when something takes long.

        search, models: in place of the product's, as a replay has them.
        """
        self.given = Given(settings, locations, api_key, offline, tell)
        self.stores = Stores(self.given)
        self.search = search(self.given, self.stores)
        self.models = models(self.given, self.stores, self.search)
        self.turns = Turns(self.given, self.stores, self.search, self.models)
        self._background_change: BackgroundChange | None = None

    @cached_property
    def learning(self) -> Learning:
        """What trains models from use; most commands need nothing of it."""
        from assistant.learning.recipe import Parts
        from assistant.wiring.learning import Learning

        parts = Parts(self.given, self.stores, self.search, self.models)
        return Learning(parts, lambda: self.turns.answers_first)

    def encoder_change(self, *, even_declined: bool = False) -> EncoderChange | None:
        """The change to the encoder that the settings name; None where that one is live.

        One that was stepped back from counts only when `even_declined`.
        """
        versions = self.stores.encoder_versions
        live, wanted = versions.live(), self.search.wanted_version()
        if not wanted or (live is not None and live.version == wanted):
            return None
        if live is not None and live.trained_from == wanted:
            return None
        if versions.declined() == wanted and not even_declined:
            return None
        from assistant.search.encoder_change import EncoderChange
        from stores.search.encoder_versions import EncoderVersion

        encoder = self.search.wanted_encoder
        new = EncoderVersion(
            encoder.version, from_everywhere(self.given.settings.encoder.source), encoder.dimension
        )
        return EncoderChange(versions, new, lambda: self.search.searching_of(encoder))

    def catch_up(self, *, in_background: bool = False) -> None:
        """What a start owes the stores: an encoder that is live, and no job left waiting.

        in_background: an encoder that takes long to change is changed meanwhile, until `close`, and the query
        model is kept.
        """
        if in_background:
            self.models.keep_query_model()
        change = self.encoder_change()
        if change is not None:
            live = self.stores.encoder_versions.live()
            if live is None or change.missing() <= _ENCODED_AT_ONCE:
                for _ in change.build():
                    pass
                if live is not None:
                    self.given.tell(f"The encoder changed from {live.version} to {change.new.version}.")
            else:
                self.given.tell(
                    f"The settings name another encoder, {change.new.version}: {change.cost().told()}. "
                    f"Until that is done, search goes on with {live.version}."
                )
                if in_background:
                    from assistant.search.encoder_change import BackgroundChange

                    self.given.tell("It is done while you chat.")
                    self._background_change = BackgroundChange(change, self.given.tell)
                    self._background_change.start()
                else:
                    self.given.tell(
                        "`vouch encoder --build` does it now; `vouch chat` does it while it is open."
                    )
        from stores.forgetting.forgetting import Forgetting

        with suppress(StoreUnavailable):  # another process reads: the bytes go at the next start
            Forgetting(self.stores.database).compact(patience_seconds=2)
        indexer = self.search.indexer
        indexer.catch_up()
        if indexer.hindrance is not None:
            self.given.tell(f"The shared index waits: {indexer.hindrance.message}. {indexer.hindrance.hint}")
        self.search.encode_adapted()

    def close(self) -> None:
        self.models.close()
        if "learning" in self.__dict__:
            self.learning.close()
        if self._background_change is not None:
            self._background_change.stop()
        self.turns.close()
        self.search.close()
        self.stores.close()
