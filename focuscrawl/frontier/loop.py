"""The event loop: uvloop's if Scrapy creates one, otherwise the one already in use."""

from __future__ import annotations

from asyncio import AbstractEventLoop

import uvloop
from scrapy.utils.reactor import is_reactor_installed


class _AnyInUse(type):
    """Creates uvloop loops, and accepts any running loop, or the reactor's, as an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, uvloop.Loop) or (isinstance(instance, AbstractEventLoop) and _in_use(instance))

    def __call__(cls) -> AbstractEventLoop:
        made: AbstractEventLoop = uvloop.Loop()
        return made


class EventLoop(metaclass=_AnyInUse):
    """For ASYNCIO_EVENT_LOOP. Scrapy refuses to run in a loop of a class other than the setting's.

    A script with its own loop, or a notebook, cannot replace that loop.
    """


def _in_use(loop: AbstractEventLoop) -> bool:
    if loop.is_running():
        return True
    if not is_reactor_installed():
        return False
    from twisted.internet import reactor

    return getattr(reactor, "_asyncioEventloop", None) is loop
