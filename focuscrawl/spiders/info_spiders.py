"""InfoSpiders: a population of agents, each with energy and a small network that learns as it crawls.

Reviewed in: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling", and in the Treasure-Crawler's paper;
after F. Menczer and R. Belew, "Adaptive Retrieval Agents", Machine Learning 39, 2000.

Each agent is on a page and estimates its links with a logistic unit over their features: for every keyword its distance
from the link (1 in the anchor, 1 / distance in words around it), and the relevance of the page. It picks a link at
random, with a higher probability for better ones, pays `cost` for the fetch, and gains the relevance of the page. The
unit learns from the difference between the estimate and the outcome, which includes the best link on the new page. An
agent with more than `plenty` energy has a mutated offspring, with which it shares energy and links. An agent without
energy dies.

All agents move at the same time; a round ends when all their pages have arrived. The crawl's file stores the agents
after each round.

Departures: the original agents use whole pages and start from a user's bookmarks; ours use the words that the crawl
stores on either side of a link. An agent without links moves to the best waiting one. If all agents die, `agents` new
ones start at the best waiting links, so a crawl ends only at its page limit or when no links are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from focuscrawl import words
from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.spider import HELD, OPEN, FocusedSpider
from focuscrawl.strategies.agents import Agent

#: Number of pages whose links an agent remembers.
MEMORY = 10


class InfoSpidersSpider(FocusedSpider):
    name = "info_spiders"
    floor = OPEN

    agents = Option(10, "initial number of agents", at_least=1)
    most_agents = Option(50, "maximum number of agents", at_least=1)
    cost = Option(0.15, "energy cost of a fetch", at_least=0.0)
    energy = Option(0.5, "energy of a new agent", at_least=0.0)
    plenty = Option(1.0, "energy above which an agent has offspring", at_least=0.01)
    seed = Option(1, "random seed")

    async def before_crawl(self) -> None:
        await super().before_crawl()
        self.crawl.store.queue.index_scores()
        #: The words of the keywords, in order, each with its weight: an agent sees how near each one is.
        self._weights: dict[str, float] = {}
        heaviest = max(self.topic.all_keywords.values())
        for name, weight in self.topic.all_keywords.items():
            for word in words.tokenize(name):
                self._weights[word] = max(self._weights.get(word, 0.0), weight / heaviest)
        #: Initial weights of an agent, taken from the weights of the topic's keywords.
        self._born = [-2.0, 2.0, *(2 * weight for weight in self._weights.values())]
        with self.crawl.store.reading():
            kept = self.crawl.store.meta("agents") or {"round": 0, "agents": []}
            self._round = int(kept["round"])
            self._agents = [Agent(**agent) for agent in kept["agents"]]

    # ---- what an agent sees

    def _features(self, link: Link, relevance: float) -> list[float]:
        near = dict.fromkeys(link.stems(self._weights), 0.0)
        for around in (link.stems(link.before())[::-1], link.stems(link.after())):
            for distance, stem in enumerate(around, 1):
                if near.get(stem, 1.0) < 1 / distance:
                    near[stem] = 1 / distance
        for stem in link.anchor_stems:
            if stem in near:
                near[stem] = 1.0
        return [1.0, relevance, *(near[stem] for stem in link.stems(self._weights))]

    def score(self, page: Page) -> Sequence[float]:
        agent = next((agent for agent in self._agents if agent.chosen == page.url_id), None)
        agent = agent or Agent(self._born, self.energy)
        relevance = self.relevance(page)
        scores = []
        for link in page.links:
            expected = agent.activation(self._features(link, relevance))
            link.why = {"expected by its agent": expected, "relevance of its page": relevance}
            scores.append(HELD * expected)
        return scores

    # ---- rounds

    def refill(self) -> bool:
        """End a round: agents learn, gain energy, reproduce or die, and choose their next links."""
        self._round += 1
        chance = Random(f"{self.seed} {self._round}")  # noqa: S311
        self._live(chance)
        if not self._agents:
            self.logger.info("Round %d: %d new agents", self._round, self.agents)
            self._agents = [Agent(self._born, self.energy) for _ in range(self.agents)]
            if self._round == 1:
                self._place(self._agents)
        chosen = self._choose(chance)
        store = self.crawl.store
        with store.transaction():
            raised = [
                url_id
                for url_id, expected in chosen.items()
                for url_id in self.crawl.frontier.raise_to({url_id: OPEN + HELD * expected}, self._why(url_id))
            ]
            store.set_meta("agents", {"round": self._round, "agents": [agent.to_json() for agent in self._agents]})
        self.crawler.stats.set_value("focus/agents", len(self._agents))
        return bool(raised)

    def _place(self, agents: list[Agent]) -> None:
        """Distribute the seed pages among the first agents."""
        pages = [page.number for page in self.crawl.store.pages.each()]
        for index, agent in enumerate(agents):
            agent.pages = pages[index % len(pages) :: len(agents)] if pages else []

    def _live(self, chance: Random) -> None:
        living: list[Agent] = []
        for agent in self._agents:
            if agent.chosen:
                self._arrive(agent)
            if agent.energy > 0:
                living.append(agent)
                if agent.energy > self.plenty and len(living) < self.most_agents:
                    living.append(agent.offspring(chance))
        self._agents = living[: self.most_agents]

    def _arrive(self, agent: Agent) -> None:
        """Update an agent after its fetch, which may have failed."""
        store = self.crawl.store
        agent.energy -= self.cost
        page = store.pages.of_url(agent.chosen)
        agent.chosen = 0
        if page is None:
            return
        relevance, via = page.relevance or 0.0, store.links.get(page.via)
        links = list(store.links.of_page(page.number))
        if via is not None and via.why:
            best = max((link.score / HELD for link in links if link.score < OPEN), default=0.0)
            agent.learn(self._features(via, via.why["relevance of its page"]), relevance, best)
        agent.energy += relevance
        if links:
            agent.pages = [*agent.pages, page.number][-MEMORY:]

    def _choose(self, chance: Random) -> dict[int, float]:
        """The URL that each agent visits next, and the relevance it expects there."""
        frontier = self.crawl.frontier
        chosen: dict[int, float] = {}
        astray: list[Agent] = []
        for agent in self._agents:
            links = {link.url_id: link.score / HELD for page in agent.pages for link in frontier.waiting_on(page)}
            free = [(url_id, worth) for url_id, worth in sorted(links.items()) if url_id not in chosen]
            if free:
                agent.chosen = agent.choose(free, chance)
                chosen[agent.chosen] = links[agent.chosen]
            else:
                astray.append(agent)
        free = [
            (url_id, score / HELD)
            for url_id, score in self.crawl.store.queue.best(len(chosen) + len(astray))
            if url_id not in chosen and frontier.waits(url_id)
        ]
        for agent, (url_id, expected) in zip(astray, free, strict=False):
            agent.chosen = url_id
            chosen[url_id] = expected
        return chosen

    def _why(self, url_id: int) -> dict[str, float]:
        waiting = self.crawl.store.queue.entry(url_id)
        link = self.crawl.store.links.get(waiting.via) if waiting else None
        return {**(link.why or {} if link else {}), "chosen in round": float(self._round)}
