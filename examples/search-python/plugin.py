"""A search backend over the text files of a folder, with the full-text index of the SQLite that Python brings.

This file is what is particular to it; serve.py is what every plugin in Python needs.
"""

import json
import sqlite3
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
import grpc  # noqa: E402
from serve import Fault, error_at, log, new, serve  # noqa: E402

INPUT = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words to look for."},
        "max_results": {"type": "integer", "minimum": 0, "maximum": 20, "default": 5},
    },
    "required": ["query"],
}


def describe():
    descriptor = new("patchbay.search.v1.Descriptor", credential="CREDENTIAL_NONE", operations=[{
        "name": "search", "title": "Search", "description": "Search the files of a folder.", "tool": "search",
        "input_schema": json.dumps(INPUT), "required": ["query"],
    }])
    return new("patchbay.plugin.v1.DescribeResponse", name="search-python", version="1.0.0", summary="Searches the files of a folder.", kinds=[{
        "name": "search", "service": "patchbay.search.v1.Search", "descriptor": descriptor.SerializeToString(),
        "config": {"attributes": [
            {"name": "folder", "type": "TYPE_STRING", "required": True, "doc": "The folder, relative to plugin.hcl."},
            {"name": "pattern", "type": "TYPE_STRING", "default_json": '"*.md"', "doc": "Which files of it and of its sub-folders."},
        ]},
    }])


def check(config):
    """Read a config block: the settings, and what is wrong with it. No side effects."""
    try:
        block = json.loads(config.json or b"{}")
    except (ValueError, RecursionError):
        block = None
    if not isinstance(block, dict):
        return None, [error_at("", "must be an object")]
    findings = [error_at(name, "is not known here") for name in block if name not in ("folder", "pattern")]
    folder = None
    if not isinstance(block.get("folder"), str) or not block["folder"] or "\0" in block["folder"]:
        findings.append(error_at("folder", "must name a folder"))
    elif not (folder := (Path(config.base_dir or "/") / block["folder"]).resolve()).is_dir():
        findings.append(error_at("folder", "is not a folder"))
    pattern = "*.md" if block.get("pattern") is None else block["pattern"]
    if not isinstance(pattern, str) or not pattern or "/" in pattern or "**" in pattern:
        findings.append(error_at("pattern", "must be a pattern of file names, such as *.md"))
    return (folder, pattern), findings


def readable(path, folder, protected):
    """Whether a file may be shown: nothing hidden, nothing outside of the folder, nothing that the core protects."""
    real = path.resolve()
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    kept = any(real == p or p in real.parents for p in protected)
    return real.is_file() and folder in real.parents and not hidden and not kept


def build(config, settings):
    """Read the folder into an index, for one instance."""
    folder, pattern = settings
    protected = [Path(p).resolve() for p in config.protected_paths]
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute("CREATE VIRTUAL TABLE files USING fts5(path UNINDEXED, title, body, tokenize = 'porter unicode61')")
    for path in sorted(folder.rglob(pattern)):
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if readable(path, folder, protected) else None
        except OSError as e:
            log("warn", f"{path.relative_to(folder)} is left out: {e.strerror}")
            continue
        if text is not None:
            title = next((line.lstrip("# ") for line in text.splitlines() if line.strip("# ")), path.name)
            index.execute("INSERT INTO files VALUES (?, ?, ?)", (str(path.relative_to(folder)), title, text))
    return Index(index)


class Index:
    """The files of one instance."""

    def __init__(self, connection):
        self._connection, self._lock = connection, threading.Lock()

    def search(self, query, limit):
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in query.replace("\0", " ").split())
        with self._lock:
            rows = self._connection.execute(
                "SELECT path, title, snippet(files, 2, '', '', ' … ', 60), -bm25(files) FROM files WHERE files MATCH ? ORDER BY 4 DESC LIMIT ?",
                (words, limit)).fetchall()
        best = max((score for *_, score in rows), default=0) or 1
        return [{"title": title, "url": "file:" + path, "content": text, "score": round(max(score / best, 0), 4)} for path, title, text, score in rows]


def bad(reason, message):
    return Fault(grpc.StatusCode.INVALID_ARGUMENT, "caller", reason, message)


class Search:
    """The service patchbay.search.v1.Search, in its unary form."""

    def __init__(self, instances):
        self.instances = instances

    def Invoke(self, request, context):
        with self.instances.of(context) as index:
            if request.operation != "search":
                raise bad("UNSUPPORTED", f"there is no operation {request.operation!r}")
            try:
                body = json.loads(request.body.decode("utf-8"))
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                raise bad("INVALID_BODY", "the body is not a JSON object")
            query, limit = body.get("query"), body.get("max_results", 5)
            if not isinstance(query, str) or not query.strip():
                raise bad("INVALID_BODY", "query must be a text")
            if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= 20:
                raise bad("INVALID_BODY", "max_results must be an integer from 0 to 20")
            answer = {"query": query, "answer": None, "images": [], "results": index.search(query, limit)}
        head = {"http_status": 200, "headers": [{"name": "Content-Type", "value": "application/json"}], "credits_known": True}
        return new("patchbay.search.v1.InvokeResponse", head=head, body=json.dumps(answer).encode())


if __name__ == "__main__":
    serve(describe(), check, build, "patchbay.search.v1.Search", Search)
