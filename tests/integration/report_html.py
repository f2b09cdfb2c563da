"""report.html is one file that fetches nothing, its data are report.json's, and the series in it and in
series.csv add up to the report's numbers; a browser, where one is installed, draws it without an error."""
import csv
import html.parser
import json
import os
import re
import shutil
import subprocess

from _lab import SOURCE, Folder, expect, expect_equal, rocegen


class Page(html.parser.HTMLParser):
    """Elements that fetch, and what stands in scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.fetches, self.data, self.code, self.styles, self.inside = [], "", "", "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag in ("link", "iframe", "img", "object", "embed", "base", "form", "audio", "video"):
            self.fetches.append(tag)
        self.fetches += [f"{tag} {k}" for k in names if k in ("src", "href", "srcset", "action") or k.startswith("on")]
        self.inside = "data" if names.get("id") == "data" else tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside == "data":
            self.data += text
        elif self.inside == "script":
            self.code += text
        elif self.inside == "style":
            self.styles += text


def column(rows, series, name, what):
    return [int(r[what]) for r in rows if r["series"] == series and (name is None or r["name"] == name)]


def check(folder, out, more, status=0):
    run = rocegen("run", *more, "--out", out)
    expect_equal(run.returncode, status, f"exit status of {more}; {run.stderr}")
    expect_equal(sorted(os.listdir(out)), ["meta.json", "report.html", "report.json", "report.txt", "series.csv"],
                 "files")
    text = open(os.path.join(out, "report.html"), encoding="utf-8").read()
    report = json.load(open(os.path.join(out, "report.json")))
    page = Page(text)
    expect_equal(page.fetches, [], "elements that fetch")
    expect(not re.search(r"@import|url\(\s*['\"]?(?!data:)", page.styles), "the style fetches")
    expect(not re.search(r"\bfetch\(|WebSocket|EventSource|importScripts|sendBeacon|import\(", page.code),
           "a script fetches")
    expect("default-src 'none'" in text, "no policy that forbids to fetch")
    expect(report["verdict"] in text[:text.index("<main")].replace("&gt;", ">"), "the verdict is not on top")
    data = json.loads(page.data)
    expect_equal(data["report"], report, "the embedded report")
    rows = list(csv.DictReader(open(os.path.join(out, "series.csv"))))
    for flow in report["flows"]:
        name = flow["flow_name"]
        expect_equal(sum(column(rows, "flow_rx", name, "sum")), flow["rx_bytes_l2"], f"bytes of {name}")
        expect_equal(sum(column(rows, "flow_ce_rx", name, "sum")), flow["ecn_ce_rx"], f"CE of {name}")
        drawn = [s for s in data["flows"]["series"] if s["name"] == name]
        expect_equal([sum(s["values"]) for s in drawn], [flow["rx_bytes_l2"]], f"drawn bytes of {name}")
        points = [s for s in data["latency"]["series"] if s["name"] == name][0]["points"]
        expect_equal(points[-1], [flow["latency_ns"]["max"], 1000000], f"end of the CDF of {name}")
    if report["fabric"]:
        expect_equal(max(column(rows, "queue_depth", None, "max")), report["fabric"]["queue_peak_bytes"], "peak")
        expect_equal(max(max(s["values"]) for s in data["queues"]["series"]),
                     report["fabric"]["queue_peak_bytes"], "peak drawn")
        for port in report["ports"]:
            seen = sum(column(rows, "nic_paused", f"{port['name']} priority 3", "sum"))
            wanted = port["schedule_paused_ns"][3]
            expect(abs(seen - wanted) <= 0.02 * wanted + 1000, f"{port['name']} paused: {seen} or {wanted} ns")
    draw(os.path.join(out, "report.html"), folder)
    return data


def draw(path, folder):
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: not drawn")
        return
    shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                            "--virtual-time-budget=3000", f"--user-data-dir={folder.file('browser')}",
                            "--window-size=1600,2000", "--dump-dom", "file://" + path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    errors = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    expect_equal(errors, [], "messages of the browser")
    expect(shown.stdout.count("<canvas") >= 4, "fewer than two charts were drawn")
    expect(shown.stdout.count("<table") >= 3, "fewer than three tables were made")


def check_capture(folder, name, out):
    path = os.path.join(SOURCE, "tests", "data", "rxe", name)
    run = rocegen("analyze", path, "--out", out)
    expect_equal(run.returncode, 0, f"exit status of analyze {name}; {run.stderr}")
    expect_equal(sorted(os.listdir(out)), ["meta.json", "report.html", "report.json", "report.txt", "series.csv"],
                 "files of a capture")
    report = json.load(open(os.path.join(out, "report.json")))
    expect_equal(json.loads(rocegen("analyze", "--json", path).stdout), report, "report.json and --json")
    page = Page(open(os.path.join(out, "report.html"), encoding="utf-8").read())
    expect_equal(page.fetches, [], "elements of a capture's page that fetch")
    data = json.loads(page.data)
    expect_equal(data["report"], report, "the embedded capture report")
    rows = list(csv.DictReader(open(os.path.join(out, "series.csv"))))
    wanted = report["roce"]["frame_bytes"] + 4 * report["roce"]["frames"]
    expect(sum(column(rows, "flow_rx", None, "sum")) >= wanted, "bytes of a capture's flows")


with Folder() as folder:
    check_capture(folder, "uc.pcap", folder.file("capture"))
    beds = os.path.join(SOURCE, "profiles", "testbeds")
    incast = open(os.path.join(SOURCE, "profiles", "incast.yaml")).read()
    # What would end a script element, in a text that the report embeds.
    profile = folder.file("incast.yaml", "# </script><script>alert(1)</script> <!--\n" + incast)
    data = check(folder, folder.file("fabric"), [profile, "--testbed", os.path.join(beds, "emulated.yaml")])
    expect_equal([line["name"] for line in data["lines"]], ["kmin", "kmax", "XOFF, empty pool"], "lines")
    expect_equal(len(data["paused"]["series"]), 8, "senders drawn as paused")
    check(folder, folder.file("link"),
          [os.path.join(SOURCE, "profiles", "first.yaml"), "--testbed", os.path.join(beds, "link.yaml")])
