"""A learner that is killed: python tests/learner_child.py FOLDER, with the database of test_learner there."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from store_fixtures import Stores
from test_learner import World

from stores.database.database import Database


class Reopened(World):
    """The same world, without asking everything again."""

    def __init__(self, folder: Path) -> None:
        from test_learner import BETTER, FakeTraining

        from stores.learning.checkpoints import Checkpoints
        from stores.learning.rounds import Rounds
        from stores.search.live_models import LiveModels

        self.stores, self.folder = Stores.over(Database.at(folder)), folder
        self.rounds, self.live = Rounds(self.stores.database), LiveModels(self.stores.database)
        self.checkpoints, self.training = Checkpoints(folder / "models"), FakeTraining()
        self.decision, self.compared = BETTER, []


def wait_for_the_end() -> None:
    print("training", flush=True)
    time.sleep(60)


if __name__ == "__main__":
    world = Reopened(Path(sys.argv[1]))
    world.training.on_step = wait_for_the_end
    world.run("killed")
