"""Code in a text or a file of a skill, and the tools a skill asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.safety.config import ScreenConfig
from core.safety.other_code import other_findings
from core.safety.python_code import python_findings
from core.safety.shell_code import shell_findings
from core.safety.surroundings import Found, Surroundings


class Block(NamedTuple):
    """Code in a text: its language ("" if not said), where it begins, and itself."""

    language: str
    start: int
    code: str


_FENCE = re.compile(r"^[ >]{0,8}(```+|~~~+)[ \t]*([\w.+#-]*)[^\n]*\n", re.MULTILINE)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z)(?:[ \t]*\n(?= {4}|\t))*)+")
_INLINE = re.compile(r"(?<!`)`([^`\n]{3,400})`(?!`)")
_COMMAND = re.compile(
    r"(?:^|(?<=[\s\"'(:;]))(?:sudo |\$ )?(?:curl|wget|bash|sh|python3?"
    r"|node|rm|nc|find|crontab|chmod|scp|powershell|pwsh|iex|eval|dd|ssh|doas|env|nohup|timeout"
    r"|xargs|busybox|base64|shred|mkfs\.\w+)\s[^\n]{4,400}",
    re.IGNORECASE | re.MULTILINE,
)
_PYTHON = re.compile(
    r"^\s*(?:import \w|from [\w.]+ import|def \w+\(|exec\(|print\(|\w+ = \w+[.(])", re.MULTILINE
)
LANGUAGES = {
    **dict.fromkeys(("py", "python", "python3", "pycon"), "python"),
    **dict.fromkeys(
        ("sh", "bash", "zsh", "shell", "console", "ksh", "shell-session", "terminal"), "shell"
    ),
    **dict.fromkeys(
        ("js", "javascript", "ts", "typescript", "node", "mjs", "cjs", "jsx", "tsx"), "other"
    ),
    **dict.fromkeys(
        (
            "ps1",
            "powershell",
            "pwsh",
            "bat",
            "cmd",
            "batch",
            "rb",
            "ruby",
            "perl",
            "pl",
            "php",
            "vbs",
            "vba",
            "applescript",
            "lua",
            "r",
            "go",
            "sql",
            "dockerfile",
            "makefile",
            "make",
        ),
        "other",
    ),
    **dict.fromkeys(("json", "yaml", "yml", "toml", "ini", "jsonc"), "data"),
    **dict.fromkeys(
        ("html", "css", "xml", "md", "markdown", "csv", "text", "txt", "mermaid", "svg"), "text"
    ),
}
_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n.*?^---", re.DOTALL | re.MULTILINE)
_HOOKS = re.compile(r"^hooks[ \t]*:[^\n]*(?:\n(?:[ \t-][^\n]*)?)*", re.MULTILINE)
_FLOW = dict.fromkeys(map(ord, "{},[]"), "\n")  # each value of `{a: b, c: d}` on a line
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{1,12})$")


def code_findings(
    text: str, folded: str, config: ScreenConfig, place: str, *, is_skill: bool
) -> Iterator[Found]:
    """Yield what the code in a text does that may do harm, and the tools it wants.

    `text` and `folded` have the same length; the second is in lower case.
    """
    yield from _tools(folded, is_skill=is_skill)
    if is_skill:
        yield from _of_hooks(text, config)
    for block in _blocks(text, place):
        for code, start, end in findings_of(block, config):
            yield code, block.start + start, block.start + max(end, start + 1)


def findings_of(block: Block, config: ScreenConfig) -> Iterator[Found]:
    """Yield what a block of code does, by spans of the block."""
    language = block.language
    if language == "":
        language = "python" if _PYTHON.search(block.code) else "shell"
    if language == "data":
        yield from _of_data(block.code, config)
    elif language != "text":
        yield from _of(language, block.code, Surroundings(config.allowed_hosts, _of))


def _of(language: str, code: str, around: Surroundings) -> Sequence[Found]:
    if language == "python":
        parsed = python_findings(code, around)
        return list(other_findings(code, around)) if parsed is None else parsed
    find = shell_findings if language == "shell" else other_findings
    return list(find(code, around))


def _of_hooks(text: str, config: ScreenConfig) -> Iterator[Found]:
    """Yield what the commands in a skill's `hooks` do, which coding tools run by themselves."""
    head = _HEAD.match(text)
    for hooks in _HOOKS.finditer(text, 0, head.end()) if head else ():
        for code in (hooks[0], hooks[0].translate(_FLOW)):
            for found, start, end in _of_data(code, config):
                yield found, hooks.start() + start, hooks.start() + max(end, start + 1)


def _blocks(text: str, place: str) -> Iterator[Block]:
    suffix = _SUFFIX.search(place)
    language = LANGUAGES.get(suffix[1].lower()) if suffix else None
    if place and text.startswith("#!"):
        first = text[: text.find("\n")]
        language = "python" if "python" in first else "shell" if "sh" in first else "other"
    if language in ("python", "shell", "other", "data"):
        yield Block(language, 0, text)
        return
    at = 0
    while opened := _FENCE.search(text, at):
        closing = re.compile(rf"^[ >]{{0,8}}{re.escape(opened[1])}[ \t]*$", re.MULTILINE)
        closed = closing.search(text, opened.end())
        end = closed.start() if closed else len(text)
        yield from _unfenced(text, at, opened.start())
        name = opened[2].lower()
        yield Block(
            LANGUAGES.get(name, "" if not name else "other"), opened.end(), text[opened.end() : end]
        )
        at = closed.end() if closed else end
    yield from _unfenced(text, at, len(text))


def _unfenced(text: str, start: int, end: int) -> Iterator[Block]:
    part = text[start:end]
    for one in _INDENTED.finditer(part):
        yield Block("", start + one.start(), one[0])
    for one in _INLINE.finditer(part):
        yield Block("shell", start + one.start(1), one[1])
    for one in _COMMAND.finditer(part):
        if "`" not in one[0]:
            yield Block("shell", start + one.start(), one[0])


def _of_data(code: str, config: ScreenConfig) -> Iterator[Found]:
    """Yield what commands in the values of JSON or YAML do: scripts of packages, hooks, runners."""
    for one in re.finditer(
        r"\"((?:[^\"\\\n]|\\.){6,2000})\"|'([^'\n]{6,2000})'"
        r"|(?<=[:-] )([^\s\"'\[{][^\n]{5,2000})",
        code,
    ):
        raw = one[1] or one[2] or one[3] or ""
        value = raw
        if one[1] and "\\" in raw:
            try:
                value = str(json.loads(f'"{raw}"'))
            except ValueError:
                value = raw
        if _COMMAND.match(value.strip()):
            for found, _, _ in findings_of(Block("shell", 0, value), config):
                yield found, one.start(), one.end()


# ---- tools -----------------------------------------------------------------------------------

_ALLOWED = re.compile(
    r"allowed[-_ ]?tools[\"'`]?\s{0,3}(?:[:=]|을|를|은|는|항목을|항목은"
    r"|값을)\s{0,3}([^\n]{0,400}(?:\n\s*-\s[^\n]{1,100}){0,30})"
)
_EVERY_TOOL = re.compile(
    r"(?<![\w/(*.])[\"'`]?\*[\"'`]?(?![\w*/.:)])|\bbash\s?\(\s*(?:\*|\*:\*"
    r"|\*\*|:\*|sh|bash|zsh|sudo|python3?|node|eval|env|xargs|rm)\s*(?::?\s?\*)?\s*\)"
    r"|\bbash\b(?!\s?\()|mcp__\*|\bmcp__\w+__\*.{0,3}\*|\b(?:all|any|everything"
    r"|unrestricted)\b|(?:edit|write|read|multiedit)\s?\(\s*(?:\*|/\*\*"
    r"|/\*|~/\*\*)\s*\)|전부|모두|모든|전체"
)
_PERMISSIONS = re.compile(
    r"bypass_?permissions|default_?mode[\"']?\s*[:=]\s*[\"']?(?:accept"
    r"|bypass|auto|dontask|yolo)|\"bash\((?:rm|sudo|curl|sh|bash|wget"
    r"|\*)[ :*]|skip[-_]permissions|acceptall\b|accept_all"
    r"|auto_?approve\w*[\"']?\s*[:=]\s*[\"']?(?:true|all|yes|on|\*)"
    r"|permission[-_ ]?mode[\"']?\s*[:=]\s*[\"']?(?:accept|bypass|auto"
    r"|none|full|yolo|allow)|--(?:dangerously[\w-]*|no-sandbox|privileged"
    r"|yolo|yes-to-all|trust-all[\w-]*|full-auto|allow-all[\w-]*|disable-sandbox"
    r"|skip-permissions|auto-approve[\w-]*|no-confirm\w*|unsafe[\w-]*)\b"
    r"|sandbox[\w-]*[\"']?\s*[:=]\s*[\"']?(?:none|off|false|disabled?"
    r"|no\b|danger\w*|0)|\b(?:user|run_as|runas)[\"']?\s*[:=]\s*[\"']?(?:root"
    r"|0)\b|\b(?:network|pid|ipc)(?:_mode)?[\"']?\s*[:=]\s*[\"']?host\b"
    r"|privileged[\"']?\s*[:=]\s*true|allowed_?paths?[\"']?\s*[:=]\s*\[?\s*[\"']?(?:/"
    r"|\*|~)[\"']?\s*[\],\n]|\"bash\(\*(?::\*)?\)\"|chmod\s+(?:-r\s+)?0?777\s+/(?:\s"
    r"|$)|docker\.sock|-v\s+/:/|cap_add|--cap-add|seccomp[=:]unconfined"
    r"|trust_?(?:all|everything)[\"']?\s*[:=]\s*true"
    r"|confirm\w*[\"']?\s*[:=]\s*[\"']?(?:never|false|off)\b"
)
_NO_WALL = re.compile(
    r"\b(?:turn|switch|leave|get|break|go|run|step)\w*\b[^.\n]{0,24}\b(?:off"
    r"|out of|outside|without|around) (?:of )?(?:the |its |any )?(?:sandbox"
    r"|container|wall|jail)|\b(?:sandbox|permission (?:prompts?|checks?"
    r"|system)|tool confirmations?)\b[^.\n]{0,16}\b(?:off|disabled|removed"
    r"|gone|bypassed|ignored)\b|\b(?:disable|bypass|ignore|skip|suppress"
    r"|remove)\w*\b[^.\n]{0,16}\b(?:the sandbox|permission (?:prompts?"
    r"|checks?|dialogs?)|tool confirmations?|permissions)\b|\bwith sudo\b"
    r"|sudo\s?(?:로|을\s?써|권한)|(?:시스템|디스크)\s?전체\s?(?:폴더|경로"
    r"|파일)?[^.\n]{0,12}(?:쓰기|접근|권한)|\bas root\b|\broot (?:rights"
    r"|access|privileges)|\b(?:standing|blanket|full|unrestricted"
    r"|unlimited) (?:permission|access|rights|privileges)\b|\b(?:bash"
    r"|shell|mail|write|terminal|send\w*|tools?)\b[^.\n]{0,24}\bpre-?approved"
    r"|\b(?:pre-?approve|auto-?approve|whitelist|allow|grant|give|open"
    r"|enable|unlock|use)\w*\b[^.\n]{0,30}\b(?:all|every|any|each) (?:\w+ )?(?:tools?"
    r"|commands?|permissions?|paths?)\b|샌드박스[^.\n]{0,14}(?:끄|꺼|해제"
    r"|없이|밖|우회|풀)|(?:루트|root|관리자|sudo)\s?권한(?:으로|을|를)"
    r"|(?:모든|전체|온갖|일체의?|가진)\s?(?:도구|권한|명령|툴|폴더|경로)[^.\n]{0,30}(?:"
    r"허용|열|승인\s?없이|쓸\s?수|쓰게|쓰도록|풀|부여|주세요|접근|사용)"
    r"|(?:도구|권한|명령)[^.\n]{0,8}(?:전부|모두|다|싹)\s?(?:로\s?)?(?:허용"
    r"|열|풀|부여)|권한[^.\n]{0,20}(?:물어보는|묻는|확인)[^.\n]{0,20}(?:다\s?열"
    r"|끄|없|안\s?뜨|생략)|다\s?열어\s?주"
)
_NARROWER = re.compile(
    r"\b(?:narrow\w*|remov\w*|restrict\w*|instead of|never|don'?t|do not"
    r"|no longer|without|not|rather than|refuse|reject|warn\w*|must not"
    r"|scares?)\b|빼\s?주|줄여|줄이|금지|제한해|막아|없애|않|마세요|말고\s"
    r"|만\s?남|가져가"
)
_SKILL = re.compile(r"skill|스킬|description|도구|agent|에이전트|설명")
_EVERY_TOPIC = re.compile(
    r"\b(?:use|run|fire|trigger|invoke|load|activat|call|start|execut"
    r"|launch|kick)\w*\b[^.\n]{0,60}\b(?:any|every|each|all)(?: single"
    r"| other)? (?:\w+ )?(?:requests?|messages?|conversations?|questions?"
    r"|topics?|tasks?|prompts?|chats?|turns?|inputs?)\b|\bwhatever (?:the )?(?:topic"
    r"|question|subject|request|user (?:asks|says))|\bregardless of (?:the )?(?:topic"
    r"|subject|question|request)|\balways (?:use|run|load|call|invoke"
    r"|start with) this skill|\bbefore any other skill|\bin every conversation"
    r"|\bon every (?:single )?(?:message|turn|request|prompt)|\bfirst for any\b"
    r"|\b(?:for|on|with) everything\b|no matter what (?:the )?(?:user"
    r"|people|anyone|they)|\b(?:at the (?:start|beginning) of|in|on|for) (?:each"
    r"|every) (?:\w+ )?(?:conversation|chat|session|message|request)|(?:어떤"
    r"|무슨|모든|무엇을|뭘|어느|매|온갖)\s?(?:질문|요청|대화|메시지|주제"
    r"|작업|말|일|문의|업무)?[^.\n]{0,20}?(?:이든|든|든지|에|마다|이나"
    r"|에서|의|도)[^.\n]{0,30}?(?:이\s?스킬|먼저|항상|반드시|자동\s?(?:으로\s?)?(?:실행"
    r"|호출|발동|작동|켜)|무조건|최우선|첫\s?단계|실행|발동)|(?:항상|늘"
    r"|무조건)\s?(?:사용|실행|켜|발동|호출)[^.\n]{0,20}(?:하고|되게|으로)"
    r"|다른\s?스킬보다\s?(?:먼저|우선|앞)|무조건\s?이\s?스킬"
)


def _tools(folded: str, *, is_skill: bool) -> Iterator[Found]:
    for one in _ALLOWED.finditer(folded):
        value = one[1].split("#")[0]
        broad = _EVERY_TOOL.search(value)
        if broad and not _NARROWER.search(value):
            yield "tools.everything", one.start(), one.start(1) + broad.end()
    for one in re.finditer(r"허용\s?도구[^.\n]{0,20}?(?:전부|모두|모든|전체|\*)", folded):
        yield "tools.everything", one.start(), one.end()
    for one in _PERMISSIONS.finditer(folded):
        yield "tools.no_wall", one.start(), one.end()
    for code, pattern in (("tools.no_wall", _NO_WALL), ("tools.every_topic", _EVERY_TOPIC)):
        for one in pattern.finditer(folded):
            begin = max(folded.rfind("\n", 0, one.start()), folded.rfind(". ", 0, one.start())) + 1
            until = re.compile(r"\n|[.!?](?=\s|$)").search(folded, one.end())
            rest = (
                folded[begin : one.start()]
                + " "
                + folded[one.end() : until.start() if until else len(folded)]
            )
            if (is_skill or _SKILL.search(folded)) and not _NARROWER.search(rest):
                yield code, one.start(), one.end()
