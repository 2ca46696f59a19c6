"""Show an answer as it comes, in a program that waits asynchronously."""

import asyncio

from vouch import Answer, AsyncVouch


async def main() -> None:
    async with AsyncVouch(user="example") as vouch:
        await vouch.add("The tide is high at six in the morning.")
        async for piece in vouch.stream("When is the tide high?"):
            if isinstance(piece, Answer):
                print(f"\nfrom {len(piece.sources)} passages")
            else:
                print(piece, end="", flush=True)


asyncio.run(main())
