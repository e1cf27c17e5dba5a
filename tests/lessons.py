"""A small web to learn from: gardens are the topic, engines are not, and the words around links give them away."""

from __future__ import annotations

import random
from pathlib import Path

from focuscrawl.web.webs import MemoryWeb
from tests.conftest import at

GARDEN = ["rose", "tulip", "soil", "seed", "bloom", "prune", "compost", "petal", "orchard", "lawn", "hedge", "bulb"]
ENGINE = [
    "piston",
    "valve",
    "diesel",
    "torque",
    "gear",
    "clutch",
    "crank",
    "fuel",
    "exhaust",
    "turbine",
    "rotor",
    "bearing",
]
BOTH = ["people", "world", "today", "house", "small", "great", "number", "water", "light", "year"]
#: What is said before links that lead to gardens, and to engines.
TO_GARDENS, TO_ENGINES = "gently stroll along roses", "quickly drive past pistons"


def text(chance: random.Random, words: list[str], length: int = 60) -> str:
    return " ".join(chance.choice(words if chance.random() < 0.6 else BOTH) for _ in range(length))


def lessons_web(pages: int = 60, links: int = 6, apart: int = 0) -> MemoryWeb:
    """Pages of both kinds that link to one another at random; the seed links to some of either kind.

    What gives a link away is that many words *apart* from it.
    """
    chance = random.Random(5)
    web = MemoryWeb()
    names = [f"{kind}/{number}" for number in range(pages) for kind in ("garden", "engine")]

    def body(name: str) -> str:
        words = GARDEN if name.startswith("garden") else ENGINE if name.startswith("engine") else BOTH
        own = " ".join(f"own{chance.randrange(10**6)}" for _ in range(20))  # every page has something new to say
        parts = [f"<title>{name.replace('/', ' ')}</title><p>{text(chance, words)}</p><p>{own}</p>"]
        for target in chance.sample(names, links):
            hint = TO_GARDENS if target.startswith("garden") else TO_ENGINES
            between = text(chance, BOTH, apart) if apart else ""
            parts.append(
                f'<p>{hint} {between} <a href="{at("w/" + target)}">this page</a> {between} {hint.split()[0]}</p><p>{text(chance, BOTH, 20)}</p>'
            )
        return "".join(parts)

    web.add(at("w/seed"), body("seed"))
    for name in names:
        web.add(at("w/" + name), body(name), [name.partition("/")[0]])
    return web


def topic_file(folder: Path, *, examples: int = 8, counterexamples: int = 8, name: str = "Gardens") -> Path:
    """A topic with example pages as files."""
    chance = random.Random(6)
    for kind, words, number in (("yes", GARDEN, examples), ("no", ENGINE, counterexamples)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for place in range(number):
            (folder / kind / f"{place}.html").write_text(f"<p>{text(chance, words)}</p>")
    lines = [f'name = "{name}"', f'seeds = ["{at("w/seed")}"]', "keywords = { rose = 1, soil = 1 }"]
    lines += ['examples = ["yes/*.html"]'] if examples else []
    lines += ['counterexamples = ["no/*.html"]'] if counterexamples else []
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines))
    return path


def gardens(urls: list[str]) -> int:
    return sum("garden" in url for url in urls)
