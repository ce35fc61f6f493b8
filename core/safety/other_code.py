"""What code in other languages does that may do harm: by the calls that stand in it.

JavaScript, PowerShell, batch files, Perl, Ruby, PHP, and Python that cannot be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.safety.surroundings import PERSISTENT, SECRETS, Found, Surroundings

_FETCH = (
    r"(?:https?\.get|require\([\"']?https?[\"']?\)|https?\.request|\bfetch\("
    r"|axios|XMLHttpRequest|urlopen|requests\.get|DownloadString|DownloadFile"
    r"|DownloadData|Invoke-WebRequest|Invoke-RestMethod|\biwr\b|\birm\b"
    r"|Net\.WebClient|file_get_contents\(\s*[\"']http|open-uri|URI\.open"
    r"|LWP::|Net::HTTP|curl|wget|Start-BitsTransfer|got\(|superagent)"
)
_EVALUATE = (
    r"(?:\beval\b|\bexec\b|new Function\b|\bFunction\(|vm\.run\w*|\bIEX\b"
    r"|Invoke-Expression|\bsystem\b|instance_eval|assert\(|create_function"
    r"|Invoke-Command|\bloadstring\b|setTimeout\(\s*[\"'])"
)
_DECODE = (
    r"(?:atob\(|Buffer\.from\([^)]{0,400},\s*[\"'](?:base64|hex)|FromBase64String"
    r"|-enc(?:odedcommand)?\b|base64_decode|b64decode|unpack\(\s*[\"']u"
    r"|String\.fromCharCode\((?:\s*\d+\s*,){6}|decode64|gzinflate|str_rot13"
    r"|unescape\(\s*[\"']%)"
)
_PATTERNS = (
    (
        "code.runs_fetched",
        re.compile(
            rf"{_EVALUATE}[^\n]{{0,300}}{_FETCH}|{_FETCH}[^\n]{{0,400}}{_EVALUATE}"
            rf"|{_FETCH}[^\n]{{0,300}}\|\s*(?:iex|ba?sh|sh|python3?)\b"
            rf"|CreateObject\([^)\n]{0, 60}(?:XMLHTTP|WinHttp)[\s\S]{0, 600}(?:\bShell\b"
            rf"|ADODB\.Stream|\.Run\b)|certutil[^\n]{{0,80}}-urlcache"
            rf"|(?:BitsTransfer|Invoke-WebRequest|\biwr\b|DownloadFile)[^\n]{{0,300}}[;|\n]\s*"
            rf"(?:Start-Process|&\s*\S|\.\\\S)"
            rf"|(?:system|exec|shell_exec|passthru|eval|assert)\(\s*\$_(?:GET|POST|REQUEST|COOKIE)"
            rf"|bitsadmin[^\n]{{0,80}}/transfer|mshta\s+http|regsvr32[^\n]{{0,60}}http",
            re.IGNORECASE,
        ),
    ),
    (
        "code.hides",
        re.compile(
            rf"{_EVALUATE}[^\n]{{0,300}}{_DECODE}|{_DECODE}[^\n]{{0,300}}{_EVALUATE}"
            rf"|powershell[^\n]{{0,120}}-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{{20,}}"
            rf"|-w(?:indowstyle)?\s+hidden|Set-MpPreference[^\n]{{0,60}}-Disable"
            rf"|Clear-EventLog|wevtutil\s+cl",
            re.IGNORECASE,
        ),
    ),
    (
        "code.phones_out",
        re.compile(
            r"\b(?:axios|got|superagent|\$http|http|requests|httpx)\.(?:post|put"
            r"|patch)\(|method\s*:\s*[\"'](?:POST|PUT|PATCH)|-Method\s+(?:Post"
            r"|Put)|sendBeacon\(|UploadString|UploadFile|UploadData|Send-MailMessage"
            r"|WebSocket\(\s*[\"']wss?:|net\.(?:connect|createConnection|Socket)"
            r"|Net\.Sockets\.TCPClient|TCPSocket|fsockopen|CURLOPT_POST|Net::HTTP\.post"
            r"|IO::Socket|socket\.connect|dns\.(?:resolve|lookup)\([^)\"']*[+`$]"
            r"|/bin/(?:ba)?sh\s+-i\b|new Image\(\)\.src\s*=|xp_cmdshell|utl_http",
            re.IGNORECASE,
        ),
    ),
    (
        "code.reads_credentials",
        re.compile(
            r"JSON\.stringify\(\s*process\.env\s*\)|Object\.entries\(process\.env\)"
            r"|Get-ChildItem\s+env:|\bdir env:|gci env:|\bcmdkey\b|Get-StoredCredential"
            r"|ConvertFrom-SecureString|(?:\$HOME|\$env:USERPROFILE|~)[\\/]\.(?:ssh|aws"
            r"|gnupg|kube|azure)|\bmimikatz\b|sekurlsa|document\.cookie",
            re.IGNORECASE,
        ),
    ),
    (
        "code.deletes_broadly",
        re.compile(
            r"(?:rmSync|rmdirSync|rm|remove|removeSync|rimraf"
            r"|rimraf\.sync)\(\s*(?:(?:os|require\([\"']?os[\"']?\))\.homedir\(\)"
            r"|process\.env\.HOME|[\"'](?:/"
            r"|~|C:\\\\|\.\./?)[\"'])|Remove-Item[^\n]{0,60}(?:C:\\(?:\*|\s|$)"
            r"|\$HOME\b(?!\\\w)|\$env:USERPROFILE\b(?!\\\w)|~(?:\s|$))"
            r"|\bdel\s+/[sqf][^\n]{0,40}\s(?:C:\\|%USERPROFILE%|\*\.\*)|\b(?:rd"
            r"|rmdir)\s+/s[^\n]{0,20}(?:C:\\|%USERPROFILE%)|Format-Volume|\bformat\s+[a-z]:"
            r"|vssadmin\s+delete|\bDROP\s+(?:DATABASE|SCHEMA)\b|\bTRUNCATE\s+TABLE"
            r"|\bDELETE\s+FROM\s+\w+\s*(?:;|$)|FileUtils\.rm_rf\(\s*(?:Dir\.home|[\"'](?:/"
            r"|~))|\b(?:rmtree|remove_tree)\(?\s*[\"'](?:/[\"']|~)|\bunlink\b[^\n]{0,12}glob\(?\s*[\"'](?:/|~)"
            r"|\bDROP\s+TABLE\s+(?!IF\s+EXISTS\s+(?:tmp|temp|stag)|tmp|temp|stag)\w|cipher\s+/w",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    ("tools.no_wall", re.compile(r"Set-ExecutionPolicy\s+(?:Bypass|Unrestricted)", re.IGNORECASE)),
    (
        "code.persists",
        re.compile(
            r"schtasks[^\n]{0,40}/create|New-ScheduledTask|Register-ScheduledTask"
            r"|CurrentVersion\\Run|New-Service\b|sc\s+create|Startup\\|reg\s+add",
            re.IGNORECASE,
        ),
    ),
)
_SHELL = re.compile(
    r"(?:execSync|exec|spawn|spawnSync|system|shell_exec|passthru|popen"
    r"|Process\.Start|do shell script|RUN|%x|qx)\s*[({\s]\s*[\"'`]([^\n\"`]{4,800})"
)
_PATHS = re.compile(r"(?=[\"'`]([^\"'`\n]{3,200})[\"'`])")
# What is only read stays as it was.
_READ = re.compile(
    r"(?:\bread\w*|existsSync|statSync|Get-Content|Test-Path|file_get_contents|File\.exist\w*)"
    r"\s?\(?\s?$",
    re.IGNORECASE,
)
_NEAR = 40
_URL = re.compile(r"(?:https?|wss?|ftp)://[^\s\"'`)<>]+")


def other_findings(code: str, around: Surroundings) -> Iterator[Found]:
    """Yield what a program does that may do harm, by spans of it."""
    urls = _URL.findall(code)
    only_own = bool(urls) and all(map(around.allows, urls))
    for found, pattern in _PATTERNS:
        if found == "code.phones_out" and only_own:
            continue
        for one in pattern.finditer(code):
            yield found, one.start(), one.end()
    for one in _SHELL.finditer(code):
        for found in around.codes_of("shell", one[1]):
            yield found, one.start(), one.end()
    for one in _PATHS.finditer(code):
        if " " not in one[1] and SECRETS.search(one[1]) and "/" in one[1]:
            yield "code.reads_credentials", *one.span(1)
        elif (
            " " not in one[1]
            and PERSISTENT.search(one[1])
            and not _READ.search(code, max(0, one.start() - _NEAR), one.start())
        ):
            yield "code.persists", *one.span(1)
