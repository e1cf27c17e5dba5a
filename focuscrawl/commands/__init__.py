"""Commands added to `scrapy`."""

from focuscrawl.errors import hide_interrupts

hide_interrupts()  # before the commands are imported, which takes a second
