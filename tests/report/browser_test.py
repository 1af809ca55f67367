"""Opens the pages in headless Chromium: every picture drew, the console is clean, nothing is fetched.

Called with the path of `covary`. Exits with 77 (skipped) where there is no Chromium.
"""

import csv
import functools
import html
import http.server
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

COVARY = sys.argv.pop(1) if len(sys.argv) > 1 else "covary"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# Added to a copy of the page, whose own policy runs no script.
PROBE = """<script>
addEventListener("load", () => {
  const found = {svgs: [], text: [], fetched: performance.getEntriesByType("resource").map(e => e.name),
                 wide: document.documentElement.scrollWidth, window: innerWidth};
  for (const svg of document.querySelectorAll("figure > svg")) {
    const box = svg.getBBox(), shown = svg.getBoundingClientRect();
    const marks = svg.querySelectorAll("path.line, path.band, path.dots, rect.bar, g.image path").length;
    found.svgs.push({title: svg.querySelector("title").textContent, width: box.width, height: box.height,
                     shown: shown.width, marks});
    const labels = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
    labels.forEach(([name, a], i) => {
      if (a.left < shown.left - 1 || a.right > shown.right + 1 || a.bottom > shown.bottom + 1)
        found.text.push(`${name} leaves the picture`);
      for (const [other, b] of labels.slice(i + 1))
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
          found.text.push(`${name} lies on ${other}`);
    });
  }
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  parent.document.body.append(out);
});
</script>"""

# Walks through a latent space: to the place of a row, to the row itself, by the keyboard, to another axis.
WALK = """<script>
addEventListener("load", () => {
  const found = {fetched: performance.getEntriesByType("resource").map(e => e.name), window: innerWidth,
                 wide: document.documentElement.scrollWidth, said: [], drawn: []};
  const map = document.getElementById("map"), box = map.getBoundingClientRect(), svg = map.querySelector("svg");
  const look = () => {
    found.said.push(document.getElementById("where").textContent);
    found.drawn.push(document.querySelector(".shown canvas") ? document.querySelector(".shown canvas").toDataURL()
                                                            : document.querySelector(".shown").innerHTML);
  };
  const row = document.querySelectorAll("#rows circle")[ROW].getBoundingClientRect();
  const there = {clientX: row.left + row.width / 2, clientY: row.top + row.height / 2, bubbles: true};
  look();
  svg.dispatchEvent(new PointerEvent("pointermove", there));
  look();
  svg.dispatchEvent(new MouseEvent("click", there));
  look();
  map.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
  look();
  const choice = document.querySelector("select");
  choice.selectedIndex = 1;
  choice.dispatchEvent(new Event("change"));
  look();
  const background = map.querySelector("canvas").getContext("2d").getImageData(0, 0, 48, 48).data;
  found.background = new Set(background).size;
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  parent.document.body.append(out);
});
</script>"""


def covary(*args):
    done = subprocess.run([COVARY, *args], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"covary {' '.join(args)}: {done.stderr}")


class Server(http.server.ThreadingHTTPServer):
    """Serves one folder on the loopback and remembers what was asked for."""

    def __init__(self, folder):
        self.asked = []
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = staticmethod(lambda name: os.path.join(cls.folder.name, name))
        cls.server = Server(cls.folder.name)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def open(self, page, width=1100, dark=False, probe=PROBE):
        """What the browser found in the page; asserts a clean console and one request."""
        with open(self.path(page), encoding="utf-8") as f:
            text = f.read()
        policy = re.search(r"default-src 'none'; style-src 'unsafe-inline'", text)
        self.assertTrue(policy)
        if probe is PROBE:
            self.assertNotIn("<script", text)
            text = text.replace(policy.group(), policy.group() + "; script-src 'unsafe-inline'")
        with open(self.path("probed.html"), "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", probe + "</body>"))
        with open(self.path("frame.html"), "w", encoding="utf-8") as f:  # a window cannot be as narrow as a phone
            f.write(f'<!DOCTYPE html><body style="margin:0"><iframe src="probed.html" '
                    f'style="border:0;width:{width}px;height:900px"></iframe></body>')
        self.server.asked.clear()
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
                 "--enable-logging=stderr", "--window-size=1200,1000",
                 f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom",
                 f"http://127.0.0.1:{self.server.server_port}/frame.html"],
                capture_output=True, text=True, timeout=120)
        found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.S)
        self.assertTrue(found, done.stderr[-2000:])
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "favicon" not in line]
        self.assertEqual(console, [])
        self.assertEqual([p for p in self.server.asked if p not in ("/frame.html", "/probed.html", "/favicon.ico")], [])
        found = json.loads(html.unescape(found.group(1)))
        self.assertEqual([f for f in found["fetched"] if not f.endswith("/favicon.ico")], [])
        self.assertEqual(found["window"], width)
        self.assertLess(os.path.getsize(self.path(page)), 3_000_000)
        return found

    def check(self, page, pictures, **how):
        found = self.open(page, **how)
        self.assertGreaterEqual(len(found["svgs"]), pictures)
        for svg in found["svgs"]:
            with self.subTest(page=page, picture=svg["title"], **how):
                self.assertGreater(svg["width"], 100)
                self.assertGreater(svg["height"], 30)
                self.assertGreater(svg["shown"], 250)
                self.assertGreater(svg["marks"], 0)
        self.assertEqual(found["text"], [], f"{page} {how}")
        self.assertLessEqual(found["wide"], found["window"], "the page scrolls sideways")

    def everywhere(self, page, pictures):
        self.check(page, pictures)
        self.check(page, pictures, dark=True)
        self.check(page, pictures, width=375)  # a phone

    def test_one_input(self):
        covary("example", "curve", self.path("curve"))
        covary("fit", self.path("curve/train.csv"), "--target", "y", "--kernel", "se + periodic", "--restarts", "1",
               "--max-iter", "30", "--out", self.path("curve.cov"))
        covary("report", self.path("curve.cov"), "--data", self.path("curve/test.csv"), "--out",
               self.path("curve.html"))
        self.everywhere("curve.html", 13)

    def test_ten_inputs(self):
        covary("example", "friedman", self.path("friedman"))
        covary("fit", self.path("friedman/train.csv"), "--target", "y", "--restarts", "1", "--max-iter", "20", "--out",
               self.path("friedman.cov"))
        covary("report", self.path("friedman.cov"), "--out", self.path("friedman.html"))
        self.everywhere("friedman.html", 15)

    def test_awkward_data(self):
        rows = "".join(f"{1e6 + i},{-1e-7 * i if i % 3 else ''},{1e7 + i * i}\n" for i in range(12))
        with open(self.path("awkward.csv"), "w", encoding="utf-8") as f:
            f.write('"time <s> & ""more"", a long name of a column",small,large\n' + rows)
        covary("fit", self.path("awkward.csv"), "--target", "small,large", "--out", self.path("awkward.cov"))
        covary("report", self.path("awkward.cov"), "--out", self.path("awkward.html"))
        self.everywhere("awkward.html", 10)

    def test_latent_space(self):
        names = [f"y{p}" for p in range(64)]
        rows = [[math.sin(0.4 * i + 0.3 * p) * (1 + 0.02 * i) for p in range(64)] for i in range(30)]
        with open(self.path("images.csv"), "w", encoding="utf-8") as f:
            f.write(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
        covary("fit", self.path("images.csv"), "--model", "gplvm", "--latent", "3", "--inducing", "12", "--restarts", "1",
               "--max-iter", "150", "--out", self.path("images.cov"))
        covary("report", self.path("images.cov"), "--data", self.path("images.csv"), "--out", self.path("images.html"))
        self.everywhere("images.html", 9)
        covary("predict", self.path("images.cov"), self.path("images.csv"), "--out", self.path("given.csv"))
        with open(self.path("given.csv"), encoding="utf-8") as f:
            given = list(csv.DictReader(f))
        for draw in ("auto", "curve", "points(2)"):
            for width in (1100, 375):
                with self.subTest(draw=draw, width=width):
                    covary("explore", self.path("images.cov"), "--draw", draw, "--out", self.path("walk.html"))
                    found = self.open("walk.html", width=width, probe=WALK.replace("ROW", "7"))
                    self.assertLessEqual(found["wide"], found["window"], "the page scrolls sideways")
                    self.assertEqual(len(set(found["drawn"][:4])), 4)  # every move draws something else
                    self.assertGreater(found["background"], 10)
                    self.assertIn("nearest row 7", found["said"][2])
                    # At the row the page decodes what `predict` gives back, of an input inferred anew.
                    values = [float(v) for v in re.findall(r"y\d (-?[\d.e-]+)", found["said"][2])]
                    self.assertEqual(len(values), 4)
                    for p, value in enumerate(values):
                        self.assertAlmostEqual(value, float(given[7][f"mean_y{p}"]), delta=0.05)

    def test_experiments(self):
        listed = subprocess.run([COVARY, "experiment", "list", "--json"], capture_output=True, text=True, check=True)
        for e in json.loads(listed.stdout)["experiments"]:
            if e["data"] or e["long"]:
                continue
            covary("experiment", "run", e["name"], "--out", self.path("experiment.html"))
            self.check("experiment.html", 1)


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: no Chromium here, so the pages were not opened; apt-get install chromium")
        sys.exit(77)
    unittest.main()
