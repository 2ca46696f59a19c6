"""Images that go with a message: read from files, known by their bytes, and read again for a retry.

An image is not kept: its turn names the file, and the sum by which it is known again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.base.chat_interfaces import Image
from stores.base.errors import NotFound, WrongUsage
from stores.base.one_line import one_line

IMAGES = "images"  # among the details of a turn
MOST_BYTES = 10_000_000  # of one image
_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}  # by their first bytes
_WANTED = "Name a file with an image: png, jpeg, webp or gif."


def read_image(path: Path) -> Image:
    """The image in a file. Raises `WrongUsage` where it cannot be read, is none, or is too large."""
    try:
        path = path.expanduser().absolute()
        if path.exists() and not path.is_file():
            raise WrongUsage(f"{path}: no file", hint=_WANTED)
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: of ~nobody
        reason = getattr(error, "strerror", None) or "no name of a file"
        raise WrongUsage(f"{path}: {reason}", hint=_WANTED) from None
    return image_of(data, str(path))


def image_of(data: bytes, name: str) -> Image:
    """What these bytes are. Raises `WrongUsage` where they are no image, or too large."""
    if len(data) > MOST_BYTES:
        raise WrongUsage(f"{name}: larger than {MOST_BYTES // 1_000_000} MB", hint="Make the image smaller.")
    media_type = next((kind for start, kind in _KINDS.items() if data.startswith(start)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        media_type = "image/webp"
    if not media_type:
        raise WrongUsage(f"{name}: no image that can be sent", hint=_WANTED)
    return Image(name, media_type, data)


def noted(images: Sequence[Image]) -> dict[str, Any]:
    """What a turn keeps of the images of its message; mostly nothing."""
    kept = [{"path": image.path, "sha256": hashlib.sha256(image.data).hexdigest()} for image in images]
    return {IMAGES: kept} if kept else {}


def images_again(details: Mapping[str, Any]) -> tuple[Image, ...]:
    """The images of a turn, read anew. details: of the turn.

    Raises `NotFound` where one is gone or is another one by now.
    """
    found = []
    for kept in details.get(IMAGES, ()):
        if not kept["path"]:
            continue  # it was forgotten
        try:
            image = read_image(Path(kept["path"]))
        except WrongUsage:
            raise _gone(f"{one_line(kept['path'])} cannot be read any more") from None
        if noted([image])[IMAGES] != [kept]:
            raise _gone(f"{one_line(kept['path'])} is another image by now")
        found.append(image)
    return tuple(found)


def _gone(message: str) -> NotFound:
    return NotFound(
        f"the image of this message is gone, as {message}",
        hint="/attach an image and try again, or send the message anew without one.",
    )
