"""Every write has a receipt and can be taken back; forgetting is for good."""

from vouch import Vouch

with Vouch(user="example") as vouch:
    receipt = vouch.add("The garden gate is painted dark green.")
    vouch.undo(receipt)
    print([found.text for found in vouch.search("garden gate")])

    receipt = vouch.add("The spare key lies under the third flowerpot.")
    assert receipt.passage is not None
    print([version.text for version in vouch.history(receipt.passage)])
    print(vouch.forget(receipt.passage).passages)
