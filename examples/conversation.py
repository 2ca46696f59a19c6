"""Hand over a conversation of another program: what its user states is remembered, the replies are not."""

from vouch import Vouch

CONVERSATION = [
    {"role": "user", "content": "I am allergic to peanuts."},
    {"role": "assistant", "content": "Then the satay is not for you."},
    {"role": "user", "content": "My sister Mia lives in Porto."},
]

with Vouch(user="example") as vouch:
    for receipt in vouch.add(CONVERSATION):
        print(f"{receipt.id}: {receipt.text}")
    for found in vouch.search("What may I not eat?", limit=3):
        print(f"{found.score:.2f} {found.text}")
