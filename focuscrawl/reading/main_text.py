"""The main text of a page, apart from what is around it.

Menus, footers, sidebars and notices are told by markup (`reading.markup`), lists of links by their share of link text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from focuscrawl.reading.markup import BODY, NOTICE

if TYPE_CHECKING:
    from focuscrawl.page import Block

#: A block with a larger share of link text is a list of links.
LIST = 0.5
#: A page with a larger share of link text is a directory: its lists say what other pages are about.
DIRECTORY = 0.6
#: A part with a larger share of the text that is not in links is the page's own text, whatever its markup calls it.
OWN = 0.5


def main_blocks(blocks: Sequence[Block], plain: Sequence[int]) -> list[int]:
    """The indexes of the blocks of the main text; *plain*: how many characters of each block are in no link."""
    sizes: dict[str, int] = {}
    for block, size in zip(blocks, plain, strict=True):
        sizes[block.part] = sizes.get(block.part, 0) + size
    most = OWN * sum(size for part, size in sizes.items() if part != NOTICE)  # a notice may be longer than its page
    own = {part for part, size in sizes.items() if part == BODY or (size > most and (part != NOTICE or not most))}
    return [index for index, block in enumerate(blocks) if block.part in own]


def is_directory(blocks: Sequence[Block], plain: Sequence[int], inside: Sequence[int]) -> bool:
    """Whether most of the main text, the blocks *inside*, is link text."""
    shown = sum([blocks[index].end - blocks[index].start for index in inside])
    return sum([plain[index] for index in inside]) < (1 - DIRECTORY) * shown


def is_list(block: Block, plain: int) -> bool:
    """Whether a block is a list of links: *plain* of its characters are in no link."""
    return plain < (1 - LIST) * (block.end - block.start)


def without_links(blocks: Sequence[Block], links: Sequence[tuple[int, int]]) -> list[int]:
    """How many characters of each block are in no link; *links* are the stretches of link text, in order."""
    sizes = [block.end - block.start for block in blocks]
    index, last = 0, len(blocks)
    for start, end in links:
        while index < last and blocks[index].end <= start:
            index += 1
        inside = index
        while inside < last and blocks[inside].start < end:
            block = blocks[inside]
            sizes[inside] -= max(0, min(end, block.end) - max(start, block.start))
            inside += 1
    return sizes
