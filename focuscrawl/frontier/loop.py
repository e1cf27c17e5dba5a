"""The event loop: uvloop's where Scrapy makes one, any other where one is in use already."""

from __future__ import annotations

from asyncio import AbstractEventLoop

import uvloop
from scrapy.utils.reactor import is_reactor_installed


class _AnyInUse(type):
    """Makes uvloop's loops, and takes every loop that runs, or that the reactor runs on, for one of them."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, uvloop.Loop) or (isinstance(instance, AbstractEventLoop) and _in_use(instance))

    def __call__(cls) -> AbstractEventLoop:
        made: AbstractEventLoop = uvloop.Loop()
        return made


class EventLoop(metaclass=_AnyInUse):
    """For ASYNCIO_EVENT_LOOP. Scrapy refuses to run in a loop of another class than the setting names.

    A script that has a loop of its own, or a notebook, cannot exchange it for ours.
    """


def _in_use(loop: AbstractEventLoop) -> bool:
    if loop.is_running():
        return True
    if not is_reactor_installed():
        return False
    from twisted.internet import reactor

    return getattr(reactor, "_asyncioEventloop", None) is loop
