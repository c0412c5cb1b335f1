"""What may stand for a picture, a video, a document or a sound in a memory, and what may not (L15, L16)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

from hippo_async.errors import InvalidMedia

TYPES = ("image", "video", "document", "audio")
LONGEST_BASE64 = 255
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{LONGEST_BASE64 + 1},}}={{0,2}}")


def check_media(url: str | None, media_type: str | None) -> dict[str, str]:
    """Return what metadata say of a memory's medium: ``{"url", "type"}``, empty without one (L15).

    ``url`` is ``http``, ``https`` or an absolute path, and ``media_type`` one of :data:`TYPES`. Nothing is
    fetched or opened. Raises :class:`InvalidMedia` for anything else, and for one without the other.
    """
    if url is None and media_type is None:
        return {}
    if url is None or media_type is None:
        raise InvalidMedia(
            f"media_url {url!r} and media_type {media_type!r} go together: give both or neither"
        )
    if media_type not in TYPES:
        raise InvalidMedia(f"media_type {media_type!r} is unknown; it is one of {', '.join(TYPES)}")
    if not (_is_web(url) or PurePosixPath(url).is_absolute() or PureWindowsPath(url).is_absolute()):
        raise InvalidMedia(f"media_url {url[:200]!r} is neither http(s) nor an absolute path")
    return {"url": url, "type": media_type}


def check_text(content: str) -> None:
    """Refuse a text with a file in it: 256 or more characters of base64 in a row (L16).

    Raises :class:`InvalidMedia` with the place; up to 255 pass as text.
    """
    found = _BASE64.search(content)
    if found is not None:
        raise InvalidMedia(
            f"{len(found[0]):,} characters from {found.start():,} on look like a file in base64; store it "
            "elsewhere and give its media_url and media_type"
        )


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
