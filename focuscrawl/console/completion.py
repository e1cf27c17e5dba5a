"""Shell completion: a script for bash, zsh or fish that knows the commands, their options, spiders and topics.

Completing starts no Python, which would take most of a second: everything is in the script. One function in the
language of POSIX finds the candidates for all three shells; each of them only shows what it finds.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: What stands for a value in the syntax or the help of a command, and how it is completed.
_KINDS = {"DIR": "crawl", "TOPIC": "topic", "FILE": "file", "spider": "spider", "spider_file": "file"}
#: Options whose values are completed in a way of their own, by the name of their attribute.
_VALUES = {"spargs": "argument", "arguments": "argument", "set": "setting", "spider": "spider", "topic": "topic"}
_OPTIONAL = re.compile(r"\[[^\[\]]*\]|(?<![\w-])--?\w[\w-]*+ [^\s|]+")
_VERB = re.compile(r"(?:^|\| )([a-z]+)(?= [A-Z-]| \||$)")


@dataclass
class Option:
    """An option of a command, and what its value is: a kind, the values to choose from, or nothing for a flag."""

    names: tuple[str, ...]
    help: str
    value: str = ""


@dataclass
class Completed:
    """A command with everything that can be completed after it."""

    name: str
    help: str
    options: list[Option] = field(default_factory=list)
    #: Words that can only come first, such as `suggest`.
    verbs: tuple[str, ...] = ()
    #: The kinds of the other arguments.
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, command: Any) -> Completed:
        """What can be completed after one of Scrapy's commands or ours, whose settings are set."""
        parser = argparse.ArgumentParser(conflict_handler="resolve")  # as Scrapy makes them
        command.add_options(parser)
        written = command.syntax()
        syntax = written.replace("<", "").replace(">", "")
        required = syntax
        while (shorter := _OPTIONAL.sub("", required)) != required:
            required = shorter
        words = [*re.findall(r"<(\w+)>", written), *re.findall(r"\w+", required)]
        return cls(
            name,
            command.short_desc(),
            [_option(action) for action in parser._actions if action.option_strings],
            tuple(word for word in _VERB.findall(syntax) if word not in _KINDS),
            tuple(dict.fromkeys(_KINDS[word] for word in words if word in _KINDS)),
        )


def _option(action: argparse.Action) -> Option:
    text = " ".join(str(action.help or "").replace("%%", "%").split()).partition("; ")[0]
    if action.nargs == 0:
        return Option(tuple(action.option_strings), text)
    if action.choices:
        return Option(tuple(action.option_strings), text, " ".join(map(str, action.choices)))
    value = _VALUES.get(action.dest) or _KINDS.get(str(action.metavar), "any")
    return Option(tuple(action.option_strings), text, value)


def script(
    shell: str,
    commands: Iterable[Completed],
    spiders: Mapping[str, Mapping[str, str]],
    topics: Iterable[str],
    settings: Iterable[str],
) -> str:
    """The script for a shell. *spiders*: the options of each spider with their help."""
    tables = _TABLES.format(
        commands=_rows((command.name, command.help) for command in commands),
        options="".join(
            f"        {command.name})\n"
            + _rows((name, option.help) for option in command.options for name in option.names)
            + "            ;;\n"
            for command in commands
        ),
        values="".join(
            f"        {'|'.join(shlex.quote(f'{command.name} {name}') for name in option.names)})"
            f" _fc_kind={shlex.quote(option.value)} ;;\n"
            for command in commands
            for option in command.options
            if option.value
        ),
        verbs=_cases((command.name, "_fc_verbs", " ".join(command.verbs)) for command in commands),
        kinds=_cases((command.name, "_fc_kinds", " ".join(command.kinds)) for command in commands),
        spiders=_rows((name, "spider") for name in spiders),
        arguments="".join(
            f"        {name})\n" + _rows((f"{option}=", text) for option, text in options.items()) + "            ;;\n"
            for name, options in spiders.items()
        ),
        topics=_rows((name, "ships with focuscrawl") for name in topics),
        settings=_rows((f"{name}=", "setting") for name in settings),
    )
    return _SHELLS[shell](tables)


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"            _fc_offer {shlex.quote(name)} {shlex.quote(text)}\n" for name, text in rows)


def _cases(rows: Iterable[tuple[str, str, str]]) -> str:
    return "".join(f"        {name}) {variable}={shlex.quote(value)} ;;\n" for name, variable, value in rows if value)


def _bash(tables: str) -> str:
    return f"# Completion of focuscrawl for bash: focuscrawl completion bash\n{tables}{_BASH}"


def _zsh(tables: str) -> str:
    return f"#compdef focuscrawl\n# Completion of focuscrawl for zsh: focuscrawl completion zsh\n{tables}{_ZSH}"


def _fish(tables: str) -> str:
    program = (tables + '\n_fc_candidates "$@"\n').replace("\\", "\\\\").replace("'", "\\'")
    return f"# Completion of focuscrawl for fish: focuscrawl completion fish\nset -g __focuscrawl '{program}'\n{_FISH}"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
SHELLS = tuple(_SHELLS)

_TABLES = """\
_fc_offer() {{
    case $1 in "$_fc_start"*) printf '%s\\t%s\\n' "$_fc_before$1" "$2" ;; esac
}}
_fc_commands() {{
{commands}}}
_fc_options() {{
    case $1 in
{options}    esac
}}
_fc_value() {{
    _fc_kind=
    case $1 in
{values}    esac
}}
_fc_words() {{
    _fc_verbs= _fc_kinds=
    case $1 in
{verbs}    esac
    case $1 in
{kinds}    esac
}}
_fc_spiders() {{
{spiders}}}
_fc_arguments() {{
    case $1 in
{arguments}    esac
}}
_fc_topics() {{
{topics}    for _fc_file in "$_fc_start"*.toml "$_fc_start"*/*.toml; do
        [ ! -f "$_fc_file" ] || _fc_offer "$_fc_file" "topic file"
    done
}}
_fc_settings() {{
{settings}}}
_fc_crawls() {{
    for _fc_file in "$_fc_start"*/crawl.sqlite "$_fc_start"*/*/crawl.sqlite "$_fc_start"*/*/*/crawl.sqlite; do
        [ ! -f "$_fc_file" ] || _fc_offer "${{_fc_file%/crawl.sqlite}}" crawl
    done
}}
# the part of NAME=VALUE after the equals sign
_fc_after() {{
    _fc_before="${{_fc_start%%=*}}=" _fc_start="${{_fc_start#*=}}"
}}
_fc_of_kind() {{
    case $1 in
        any) ;;
        file) printf '@files\\t\\n' ;;
        crawl) _fc_crawls; printf '@directories\\t\\n' ;;
        spider) _fc_spiders ;;
        topic) _fc_topics ;;
        argument)
            case $_fc_start in
                topic=*) _fc_after; _fc_topics ;;
                crawl=*|lessons=*) _fc_after; _fc_crawls ;;
                *=*) ;;
                *) _fc_arguments "${{_fc_spider:-adaptive}}" ;;
            esac ;;
        setting)
            case $_fc_start in
                FOCUS_WEB=*) _fc_after; _fc_offer demo "the embedded web" ;;
                FOCUS_DIR=*) _fc_after; _fc_crawls ;;
                FOCUS_STRATEGY=*) _fc_after; _fc_spiders ;;
                *=*) ;;
                *) _fc_settings ;;
            esac ;;
        *) for _fc_word in $1; do _fc_offer "$_fc_word" ""; done ;;
    esac
}}
# Prints what can stand in place of the last argument, given those before it: a line each, with a tab and a description.
_fc_candidates() {{
    _fc_command= _fc_spider= _fc_kind= _fc_place=0 _fc_before=
    while [ $# -gt 1 ]; do
        if [ -n "$_fc_kind" ]; then
            [ "$_fc_kind" != spider ] || _fc_spider=$1
            _fc_kind=
        elif [ "${{1#-}}" != "$1" ]; then
            _fc_value "$_fc_command $1"
        elif [ -z "$_fc_command" ]; then
            _fc_command=$1
        else
            [ "$_fc_place" != 0 ] || [ "$_fc_command" != crawl ] || _fc_spider=$1
            _fc_place=$((_fc_place + 1))
        fi
        shift
    done
    _fc_start=$1
    if [ -z "$_fc_command" ]; then
        _fc_commands
    elif [ -n "$_fc_kind" ]; then
        _fc_of_kind "$_fc_kind"
    elif [ "${{1#-}}" != "$1" ]; then
        _fc_options "$_fc_command"
    else
        _fc_words "$_fc_command"
        if [ -n "$_fc_verbs" ] && [ "$_fc_place" = 0 ]; then
            for _fc_word in $_fc_verbs; do _fc_offer "$_fc_word" ""; done
        else
            for _fc_word in $_fc_kinds; do _fc_of_kind "$_fc_word"; done
        fi
    fi
}}
"""

_BASH = """\
_focuscrawl() {
    local line=${COMP_LINE:0:COMP_POINT} current done='' candidate
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]}-1]}
    # bash takes what is after an equals sign for a word of its own
    [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && done=${current%"${current##*=}"}
    COMPREPLY=()
    while IFS=$'\\t' read -r candidate _; do
        case $candidate in
            @files) compopt -o filenames 2>/dev/null; candidate=-f ;;
            @directories) compopt -o filenames 2>/dev/null; candidate=-d ;;
            *) COMPREPLY+=("${candidate#"$done"}"); continue ;;
        esac
        while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen "$candidate" -- "$current")
    done < <(_fc_candidates "${words[@]:1}")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _focuscrawl focuscrawl
"""

_ZSH = """\
_focuscrawl() {
    local candidate text
    local -a found unfinished
    while IFS=$'\\t' read -r candidate text; do
        case $candidate in
            @files) _files ;;
            @directories) _files -/ ;;
            *=) unfinished+=("${candidate//:/\\\\:}:$text") ;;
            *) found+=("${candidate//:/\\\\:}:$text") ;;
        esac
    done < <(emulate sh; _fc_candidates "${(@)words[2,CURRENT]}")
    (( $#found )) && _describe focuscrawl found
    (( $#unfinished )) && _describe focuscrawl unfinished -S ''
}
if [ "$funcstack[1]" = _focuscrawl ]; then _focuscrawl "$@"; else compdef _focuscrawl focuscrawl; fi
"""

_FISH = """\
function __focuscrawl_candidates
    set -l words (commandline -opc)[2..]
    set -l current (commandline -ct)
    for line in (sh -c $__focuscrawl focuscrawl $words "$current")
        switch $line
            case '@files*'
                __fish_complete_path (commandline -ct)
            case '@directories*'
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end
complete -c focuscrawl -f -a '(__focuscrawl_candidates)'
"""
