"""Say that an answer helped, or what was right; both teach, and what was taught can be undone."""

from vouch import Vouch

with Vouch(user="example") as vouch:
    vouch.add("The bakery opens at seven.")
    answer = vouch.ask("When does the bakery open?")
    vouch.feedback(answer.turn, good=True)
    taught = vouch.feedback(answer.turn, teach="The bakery opens at eight since June.")
    print(vouch.ask("When does the bakery open?").text)
    if taught is not None:
        vouch.undo(taught)
