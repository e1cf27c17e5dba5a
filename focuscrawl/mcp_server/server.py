"""The MCP server: its tools, and how errors reach the model. Everything else is in `shelf` and `crawls`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

from focuscrawl import __version__
from focuscrawl.errors import FocusError, printable
from focuscrawl.mcp_server.crawls import SPIDER, Crawls
from focuscrawl.mcp_server.shelf import MAX_HITS, NOTICE, TEXT, Shelf

_INSTRUCTIONS = (
    "Crawls of web pages about a topic. Search a crawl, read the text of its pages, and ask why a page was fetched."
    f" {NOTICE} Cite pages by their URL. A page's `signals` say what its publisher allows it to be used for."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_FETCHES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

CrawlName = Annotated[
    str | None, Field(description="Name of a crawl, as `crawls` lists it; not needed for a single one")
]


class _OneLineServer(MCPServer[Any]):
    """An MCP server whose errors are one line, as everywhere in focuscrawl."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, FocusError):
                raise ToolError(str(error.__cause__)) from None
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_wrong(name, error.__cause__)) from None
            raise


def _wrong(tool: str, error: ValidationError) -> str:
    """What is wrong with the arguments of a tool."""
    wrong = error.errors(include_url=False, include_input=False)
    told = "; ".join(f"{'.'.join(map(str, one['loc']))[:100]}: {one['msg'][:200]}" for one in wrong[:3])
    return printable(f"{tool}: {told}")


def make_server(shelf: Shelf, crawls: Crawls | None = None) -> MCPServer[Any]:
    """A server over a shelf; without *crawls*, no tool can start one."""
    server = _OneLineServer("focuscrawl", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING")

    @server.tool(name="crawls", annotations=_READS)
    def list_crawls() -> dict[str, Any]:
        """List the crawls: their topic, and how many pages they have."""
        return shelf.crawls()

    @server.tool(annotations=_READS)
    def topics() -> dict[str, Any]:
        """List the topics that come with focuscrawl, with their keywords and seeds."""
        return shelf.topics()

    @server.tool(annotations=_READS)
    def search(
        query: Annotated[str, Field(description='Words that must all occur; "a phrase", -without, this OR that')],
        crawl: CrawlName = None,
        host: Annotated[str | None, Field(description="Only pages of this host and its subdomains")] = None,
        matched: Annotated[bool, Field(description="Only pages that match the topic of the crawl")] = False,
        limit: Annotated[int, Field(description=f"Maximum number of pages, 1 to {MAX_HITS}")] = 10,
    ) -> dict[str, Any]:
        """Search the pages of a crawl, best first. Titles and snippets are quoted from web pages."""
        return shelf.search(query, crawl, host, matched=matched, limit=limit)

    told = f"Read the stored main text of a page, up to {TEXT:,} characters at a time. It is quoted from the web page."

    @server.tool(description=told, annotations=_READS)
    def read(
        url: Annotated[str, Field(description="URL of a page of the crawl")],
        crawl: CrawlName = None,
        offset: Annotated[int, Field(description="Where to begin: `next_offset` of the answer before")] = 0,
    ) -> dict[str, Any]:
        return shelf.read(url, crawl, offset)

    @server.tool(annotations=_READS)
    def explain(
        url: Annotated[str, Field(description="A URL that the crawl has fetched or found")], crawl: CrawlName = None
    ) -> dict[str, Any]:
        """Say why a page was fetched when it was, or why a link was not. What it quotes is from web pages."""
        return shelf.explain(url, crawl)

    @server.tool(annotations=_READS)
    def status(crawl: CrawlName = None) -> dict[str, Any]:
        """Figures of a crawl, and of the crawls that were started here."""
        found: dict[str, Any] = {}
        if crawl is not None or shelf.folders():
            found = shelf.figures(crawl) if crawl is not None or len(shelf.folders()) == 1 else shelf.crawls()
        return found if crawls is None else {**found, "bounds": crawls.state()}

    if crawls is not None:
        _add_crawl_tools(server, crawls)
    return server


def _add_crawl_tools(server: MCPServer[Any], crawls: Crawls) -> None:
    """The tools that fetch pages: offered only within bounds that a person has set."""
    allowed = f" May fetch from {', '.join(crawls.bounds.hosts)} only; `status` says how many pages and hours are left."

    def start_crawl(
        name: Annotated[str, Field(description="Name of the new crawl: lower-case letters, digits and dashes")],
        topic: Annotated[str | None, Field(description="A topic that `topics` lists")] = None,
        keywords: Annotated[str | None, Field(description='In place of a topic: word,other:2,"a phrase":3')] = None,
        seeds: Annotated[Sequence[str], Field(description="URLs to start from, on the allowed hosts")] = (),
        spider: Annotated[str, Field(description="The strategy")] = SPIDER,
        pages: Annotated[
            int | None, Field(description="Maximum number of pages; without it, all that are left")
        ] = None,
    ) -> dict[str, Any]:
        return crawls.start(name, topic, keywords, seeds, spider, pages)

    def resume_crawl(
        crawl: Annotated[str, Field(description="Name of a crawl, as `crawls` lists it")],
        pages: Annotated[int | None, Field(description="Maximum number of further pages")] = None,
    ) -> dict[str, Any]:
        return crawls.resume(crawl, pages)

    def stop_crawl(
        crawl: Annotated[str, Field(description="Name of a crawl that was started here")],
    ) -> dict[str, Any]:
        return crawls.stop(crawl)

    add = server.add_tool
    add(start_crawl, description=f"Start a crawl for pages about a topic.{allowed}", annotations=_FETCHES)
    add(resume_crawl, description=f"Resume a crawl as it was made.{allowed}", annotations=_FETCHES)
    add(stop_crawl, description="Stop a crawl that was started here; it can be resumed.", annotations=_FETCHES)
