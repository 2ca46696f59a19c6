"""What outlives a turn: the database, and all that is kept in it or beside it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from assistant.wiring.parts.given import Given

if TYPE_CHECKING:
    from stores.claims.claims import Claims
    from stores.claims.proposals import Proposals
    from stores.conversation.api_keys import ApiKeys
    from stores.conversation.claim_jobs import ClaimJobs
    from stores.conversation.journal import Journal
    from stores.conversation.ratings import Ratings
    from stores.conversation.sessions import Sessions
    from stores.conversation.summaries import Summaries
    from stores.conversation.turn_search import TurnSearch
    from stores.database.data_directory import DirectoryLock
    from stores.database.database import Database
    from stores.database.living_processes import LivingProcess
    from stores.exchange.memory_export import MemoryExport
    from stores.exchange.memory_import import MemoryImport
    from stores.learning.checkpoints import Checkpoints
    from stores.learning.rounds import Rounds
    from stores.memory.catalogue import Catalogue
    from stores.memory.documents import StoredDocuments
    from stores.memory.edits import Knowledge
    from stores.memory.library import Library
    from stores.memory.profile import Profile
    from stores.memory.statement_links import StatementLinks
    from stores.search.encoder_versions import EncoderVersions
    from stores.search.knowledge_bases import KnowledgeBases
    from stores.search.live_models import LiveModels


class Stores:
    """The stores of one running Vouch."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self._directory_lock: DirectoryLock | None = None
        given.locations.create_directories()

    @cached_property
    def database(self) -> Database:
        """The SQL database. No backup is restored over its file until `close`."""
        from stores.database.data_directory import DirectoryLock
        from stores.database.database import Database, before_links, database_file
        from stores.database.working_copies import sweep_copies

        sweep_copies(self.given.locations.data)
        url = self.given.settings.store.url
        file = database_file(url) if url else self.given.locations.data / "vouch.db"
        if file is not None and file.parent.is_dir() and self._directory_lock is None:
            self._directory_lock = DirectoryLock(file.parent)
        was_kept = file is not None and before_links(file).exists()
        database = Database(url) if url else Database.at(self.given.locations.data)
        if file is not None and before_links(file).exists() and not was_kept:
            self.given.tell(
                "Statements that had replaced each other stand beside each other now. The database of before "
                f"is {before_links(file)}; it goes with the first thing that you forget."
            )
        return database

    @cached_property
    def this_process(self) -> LivingProcess:
        """By which others know whether the turns of this process can still end; until `close`."""
        from stores.database.living_processes import LivingProcess

        return LivingProcess(self.given.locations.data / "processes")

    @cached_property
    def journal(self) -> Journal:
        """Users, sessions and turns."""
        from stores.conversation.journal import Journal

        return Journal(self.database, process=lambda: self.this_process.name)

    @cached_property
    def api_keys(self) -> ApiKeys:
        """Keys by which programs ask in a user's name."""
        from stores.conversation.api_keys import ApiKeys

        return ApiKeys(self.database)

    @cached_property
    def sessions(self) -> Sessions:
        """What a user does with their sessions."""
        from stores.conversation.sessions import Sessions

        return Sessions(self.database)

    @cached_property
    def turn_search(self) -> TurnSearch:
        """Turns found by their words."""
        from stores.conversation.turn_search import TurnSearch

        return TurnSearch(self.database)

    @cached_property
    def ratings(self) -> Ratings:
        """What users say of answers."""
        from stores.conversation.ratings import Ratings

        return Ratings(self.database)

    @cached_property
    def stored_documents(self) -> StoredDocuments:
        """Documents and the passages they were cut into."""
        from stores.memory.documents import StoredDocuments

        return StoredDocuments(self.database, curators=self.given.settings.memory.curators.split())

    @cached_property
    def library(self) -> Library:
        """The documents that each user sees."""
        from stores.memory.library import Library

        return Library(self.database)

    @cached_property
    def knowledge_bases(self) -> KnowledgeBases:
        """Tables of entities that can be talked over."""
        from stores.search.knowledge_bases import KnowledgeBases

        return KnowledgeBases(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What each user can see of what is known."""
        from stores.memory.catalogue import Catalogue

        return Catalogue(self.database)

    @cached_property
    def memory_export(self) -> MemoryExport:
        """A memory written out, to be taken along."""
        from stores.exchange.memory_export import MemoryExport

        return MemoryExport(self.database)

    @cached_property
    def memory_import(self) -> MemoryImport:
        """A memory that was written out, taken in."""
        from stores.exchange.memory_import import MemoryImport

        return MemoryImport(self.database)

    @cached_property
    def summaries(self) -> Summaries:
        """What was said in sessions before what is still sent of them."""
        from stores.conversation.summaries import Summaries

        return Summaries(self.database)

    @cached_property
    def profile(self) -> Profile:
        """What always holds of users."""
        from stores.memory.profile import Profile

        return Profile(self.database)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Remembering, forgetting and undo."""
        from stores.memory.edits import Knowledge

        return Knowledge(self.database)

    @cached_property
    def statement_links(self) -> StatementLinks:
        """What a user's statements do to each other."""
        from stores.memory.statement_links import StatementLinks

        return StatementLinks(self.database)

    @cached_property
    def claims(self) -> Claims:
        """What users stated, and what became of it."""
        from stores.claims.claims import Claims

        return Claims(self.database)

    @cached_property
    def claim_jobs(self) -> ClaimJobs:
        """What is left to remember."""
        from stores.conversation.claim_jobs import ClaimJobs

        living = self.this_process
        return ClaimJobs(self.database, has_died=living.has_died, process=lambda: living.name)

    @cached_property
    def proposals(self) -> Proposals:
        """Claims that somebody may take into the shared memory."""
        from stores.claims.proposals import Proposals

        return Proposals(self.database)

    @cached_property
    def live_models(self) -> LiveModels:
        from stores.search.live_models import LiveModels

        return LiveModels(self.database)

    @cached_property
    def encoder_versions(self) -> EncoderVersions:
        """Which encoder's vectors are searched."""
        from stores.search.encoder_versions import EncoderVersions

        return EncoderVersions(self.database)

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """The models that were trained here."""
        from stores.learning.checkpoints import Checkpoints

        return Checkpoints(self.given.locations.data / "models")

    @cached_property
    def rounds(self) -> Rounds:
        """Rounds of training, and what came of them."""
        from stores.learning.rounds import Rounds

        living = self.this_process
        return Rounds(
            self.database,
            has_died=living.has_died,
            process=lambda: living.name,
            leaves_unended=living.leaves_unended,
        )

    def close(self) -> None:
        if "database" in self.__dict__:
            self.database.close()
        if "this_process" in self.__dict__:
            self.this_process.close()
        if self._directory_lock is not None:
            self._directory_lock.close()
