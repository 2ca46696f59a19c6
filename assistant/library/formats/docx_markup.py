"""Word's markup, brought into plain paragraphs and tables before a document is read.

    tracked changes accepted -> content controls and fields opened -> text boxes and notes behind paragraphs

`python-docx` reads runs that stand directly in a paragraph, and paragraphs and tables directly in the body.
All else would vanish. (mammoth reads these as well, but takes some 20 bytes of memory for each byte of a
document, and does not know which tables have a header.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Element = Any  # of lxml, which has no types

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GRAPHIC = "{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData"
_NOTES = {"footnotes": "Footnote", "endnotes": "Endnote"}  # by the end of the relation's type
_GONE = ("del", "moveFrom", "cellDel")
_OPENED = ("ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo")
_NOT_READ = ("/chart", "/diagram")  # how the kinds of graphics end or begin whose words are in other parts


def straighten(document: Any) -> tuple[str, ...]:
    """Changes the tree of an opened document so; returns what of it cannot be read, as reasons."""
    notes = _notes(document.part)
    root = document.element.body
    _straighten(root)
    for kind in _NOTES.values():
        for reference in list(root.iter(f"{_W}{kind.lower()}Reference")):
            text = notes.get((kind, reference.get(f"{_W}id")), "")
            paragraph = next(reference.iterancestors(f"{_W}p"), None)
            if text and paragraph is not None:
                _put_behind(paragraph, [_paragraph(paragraph, f"{kind}: {text}")])
    return _left_out(root, _comments(document.part))


def _comments(part: Any) -> int:
    from docx.oxml.parser import parse_xml

    found = (each for each in part.rels.values() if each.reltype.endswith("/comments"))
    parts = [each.target_part for each in found if not each.is_external]
    return sum(1 for each in parts for _ in parse_xml(each.blob).iter(f"{_W}comment"))


def _notes(part: Any) -> dict[tuple[str, str], str]:
    """The text of each foot- and endnote, by kind and id."""
    from docx.oxml.parser import parse_xml

    found: dict[tuple[str, str], str] = {}
    for relation in part.rels.values():
        kind = _NOTES.get(relation.reltype.rpartition("/")[2])
        if kind and not relation.is_external:
            root = parse_xml(relation.target_part.blob)
            _straighten(root)
            for note in root.iter(f"{_W}{kind.lower()}"):
                text = " ".join(paragraph.text for paragraph in note.iter(f"{_W}p"))
                found[kind, note.get(f"{_W}id")] = " ".join(text.split())
    return found


def _straighten(root: Element) -> None:
    for choice in list(root.iter(f"{_ALTERNATIVES}AlternateContent")):
        _replace(choice, _better(choice))
    for mark in list(root.iter(*_named("del", "moveFrom"))):
        properties = mark.getparent()
        if properties.tag == f"{_W}trPr":
            _remove(properties.getparent())
        elif properties.tag == f"{_W}rPr" and properties.getparent().tag == f"{_W}pPr":
            _join_with_next(properties.getparent().getparent())
    for gone in list(root.iter(*_named(*_GONE))):
        _remove(gone.getparent().getparent() if gone.tag == f"{_W}cellDel" else gone)
    for control in list(root.iter(f"{_W}sdt")):
        content = control.find(f"{_W}sdtContent")
        _replace(control, [] if content is None or _is_no_content(control) else list(content))
    for wrapper in list(root.iter(*_named(*_OPENED))):
        if wrapper.getparent().tag not in (f"{_W}rPr", f"{_W}trPr"):  # there it is a mark, and holds nothing
            _replace(wrapper, list(wrapper))
    for formula in list(root.iter(f"{_MATHS}oMath")):
        _replace(formula, [_run(formula, "".join(text.text or "" for text in formula.iter(f"{_MATHS}t")))])
    for formulas in list(root.iter(f"{_MATHS}oMathPara")):
        _replace(formulas, list(formulas))
    for spoken in list(root.iter(f"{_W}ruby")):  # letters with their reading above them
        for run in reversed(list(spoken.iterfind(f"{_W}rubyBase/{_W}r"))):
            spoken.getparent().addnext(run)
        _remove(spoken)
    for box in list(root.iter(f"{_W}txbxContent")):
        paragraph = next(box.iterancestors(f"{_W}p"), None)
        if paragraph is not None:
            _put_behind(paragraph, list(box))


def _named(*names: str) -> list[str]:
    return [f"{_W}{name}" for name in names]


def _better(choice: Element) -> list[Element]:
    """Of the same thing for newer and for older programs, the first that holds words."""
    offers = [each for each in choice if each.tag in (f"{_ALTERNATIVES}Choice", f"{_ALTERNATIVES}Fallback")]
    with_words = (each for each in offers if next(each.iter(f"{_W}t", f"{_MATHS}t"), None) is not None)
    return list(next(with_words, offers[0] if offers else ()))


def _is_no_content(control: Element) -> bool:
    """Whether a content control shows what is to be entered, or a table of contents."""
    properties = control.find(f"{_W}sdtPr")
    if properties is None:
        return False
    galleries = (each.get(f"{_W}val") for each in properties.iter(f"{_W}docPartGallery"))
    placeholder = properties.find(f"{_W}showingPlcHdr")
    is_placeholder = placeholder is not None and placeholder.get(f"{_W}val") not in ("0", "false", "off")
    return is_placeholder or "Table of Contents" in galleries


def _join_with_next(paragraph: Element) -> None:
    """A paragraph whose end was deleted is one with the next."""
    below = paragraph.getnext()
    while below is not None and not isinstance(below.tag, str):  # a comment
        below = below.getnext()
    if below is None or below.tag != f"{_W}p":
        return
    content = [child for child in paragraph if child.tag != f"{_W}pPr"]
    at = 1 if len(below) and below[0].tag == f"{_W}pPr" else 0
    below[at:at] = content
    _remove(paragraph)


def _put_behind(paragraph: Element, blocks: Iterable[Element]) -> None:
    """Puts blocks behind a paragraph and what was put there already."""
    last = paragraph
    while (below := last.getnext()) is not None and below.get(_PUT) == "1":
        last = below
    for block in blocks:
        if isinstance(block.tag, str):
            block.set(_PUT, "1")
            last.addnext(block)
            last = block


_PUT = "put-behind"  # an attribute of blocks that were


def _paragraph(beside: Element, text: str) -> Element:
    paragraph = beside.makeelement(f"{_W}p")
    paragraph.append(_run(beside, text))
    return paragraph


def _run(beside: Element, text: str) -> Element:
    run = beside.makeelement(f"{_W}r")
    words = beside.makeelement(f"{_W}t")
    words.text = text
    run.append(words)
    return run


def _replace(old: Element, new: Iterable[Element]) -> None:
    for element in new:
        old.addprevious(element)
    _remove(old)


def _remove(element: Element) -> None:
    if element.getparent() is not None:
        element.getparent().remove(element)


def _left_out(root: Element, comments: int) -> tuple[str, ...]:
    graphics = sum(any(kind in (each.get("uri") or "") for kind in _NOT_READ) for each in root.iter(_GRAPHIC))
    embedded = sum(1 for _ in root.iter(*_named("altChunk", "object")))
    told = {"charts or diagrams": graphics, "embedded files": embedded, "comments": comments}
    return tuple(f"is read without what stands in {kind} ({count})" for kind, count in told.items() if count)
