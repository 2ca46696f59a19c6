"""Keep a note, ask about it, and see what the answer rests on."""

from vouch import Vouch

with Vouch(user="example") as vouch:
    vouch.add("My sister Mia lives in Porto.")
    answer = vouch.ask("Where does my sister Mia live?")
    print(answer.text)
    print("sure" if answer.sure else "not sure")
    for source in answer.sources:
        if source.is_cited:
            print(f"[{source.number}] {source.text}")
