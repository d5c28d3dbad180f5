"""A small catalogue of made-up sets, and a web server that misbehaves on request, for the tests of the data room."""

import contextlib
import functools
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from oblique_cli.data import catalogue, files
from oblique_cli.ground.resources import folder

DATASETS = folder("datasets")
FETCHED = [name for name, entry in catalogue.entries().items() if not entry.bundled and not entry.generated]


def marked(name: str) -> Any:
    """A parameter of a test that needs the set `name`, which is not bundled."""
    return pytest.param(name, marks=pytest.mark.unbundled(name))


N_PEBBLES = 8000
# Raw form of the set "pebbles", as an archive may have it: irregular blanks, an id to drop, zeros that carry nothing.
PEBBLES_RAW = "Id  weight size  kind\n" + "".join(
    f" {i}\t\t{i / 8:.5f}   {i % 7}\t{('flat', 'round')[i % 2]} \n" for i in range(1, N_PEBBLES + 1)
)
PEBBLES_CSV = "weight,size,class\n" + "".join(
    f"{i / 8!r},{i % 7},{('flat', 'round')[i % 2]}\n" for i in range(1, N_PEBBLES + 1)
)
MARBLES_CSV = "r,g,class\n1,2,a\n3,4,b\n5,,b\n"


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def zipped(**members: bytes | str) -> bytes:
    """A zip file; a member's name is its keyword, with `__` for the dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", ".")), content)
    return out.getvalue()


def toy_facts() -> dict:
    """Entries: pebbles (to fetch), marbles (bundled, a missing cell), quartz (neither bundled nor in the archive)."""
    common = {"task": "classification", "source": "made up", "origin": "none", "licence": "CC0", "notes": "Made up."}
    return {
        "marbles": common
        | {"title": "Marbles", "n": 3, "numeric": 2, "categorical": 0, "classes": {"a": 1, "b": 2}}
        | {"availability": "bundled", "files": {"all": {"name": "marbles.csv", "rows": 3, "sha256": sha(MARBLES_CSV)}}},
        "pebbles": common
        | {"title": "Pebbles", "n": N_PEBBLES, "numeric": 2, "categorical": 0}
        | {"classes": {"flat": N_PEBBLES // 2, "round": N_PEBBLES // 2}}
        | {"availability": "fetched"}
        | {"files": {"all": {"name": "pebbles.csv", "rows": N_PEBBLES, "sha256": sha(PEBBLES_CSV)}}}
        | {
            "recipe": {
                "sources": [{"path": "static/pebbles.zip", "members": ["pebbles.dat"]}, {"path": "old/pebbles.dat"}],
                "delimiter": "whitespace",
                "header": True,
                "columns": ["-", "weight", "size", "class"],
            }
        },
        "quartz": common
        | {"title": "Quartz", "n": 2, "numeric": 1, "categorical": 0, "classes": {"x": 1, "y": 1}}
        | {"availability": "fetched"}
        | {"files": {"all": {"name": "quartz.csv", "rows": 2, "sha256": sha("q,class\n1,x\n2,y\n")}}},
    }


def use_catalogue(monkeypatch: pytest.MonkeyPatch, place: Path, facts: dict) -> None:
    """Make `place` the folder of bundled data, with these entries, for one test."""
    place.mkdir(exist_ok=True)
    (place / "catalogue.yaml").write_text(yaml.safe_dump(facts, sort_keys=False))
    monkeypatch.setattr(catalogue, "folder", lambda name: place)
    monkeypatch.setattr(files, "folder", lambda name: place)
    for name in ("entry_alone", "entries", "_names"):
        monkeypatch.setattr(catalogue, name, functools.cache(getattr(catalogue, name).__wrapped__))


@pytest.fixture
def no_user_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Point the cache into the test's folder and forget $OBLIQUE_DATA; returns the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv(files.ENVIRONMENT, raising=False)
    return tmp_path / "xdg" / "oblique"


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_user_folders: Path) -> Path:
    """The toy catalogue in place of ours; returns its folder."""
    place = tmp_path / "datasets"
    use_catalogue(monkeypatch, place, toy_facts())
    (place / "marbles.csv").write_text(MARBLES_CSV)
    return place


@dataclass
class Site:
    """What the server does. Change the fields during a test.

    content     path -> body
    stop_after  bytes of each body after which the connection is cut (or held, if `hold` is not set)
    status      code of every answer, if not 200
    log         path of each request
    """

    url: str = ""
    content: dict[str, bytes] = field(default_factory=dict)
    stop_after: int | None = None
    hold: threading.Event | None = None
    status: int = 200
    length: int | None = None
    log: list[str] = field(default_factory=list)


@contextlib.contextmanager
def serving() -> Iterator[Site]:
    """Run a `Site` on a free local port."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            site.log.append(self.path)
            body = site.content.get(self.path)
            if body is None or site.status != 200:
                self.send_error(404 if body is None else site.status)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(site.length if site.length is not None else len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body[: site.stop_after])
                self.wfile.flush()
                if site.hold is not None:
                    site.hold.wait(20)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        if site.hold is not None:
            site.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server that has the pebbles, and that fetches go to."""
    with serving() as running:
        running.content["/static/pebbles.zip"] = zipped(pebbles__dat=PEBBLES_RAW, readme__txt="nothing")
        monkeypatch.setenv("OBLIQUE_UCI_URL", running.url)
        for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(proxy, raising=False)
        yield running
