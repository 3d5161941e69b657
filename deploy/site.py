"""A hook of MkDocs. Each page of the site is there as Markdown too, with an index for programs (llms.txt,
https://llmstxt.org) and all of them in one file (llms-full.txt). Cells of wide tables know the head of their column, which a
phone does not show. And each picture that is named in HTML has to be there."""

import itertools
import pathlib
import re

from mkdocs.exceptions import PluginError

sections = []


def on_nav(nav, config, files):
    sections[:] = [
        (item.title, item.children) if item.is_section else ("Start", [item]) for item in nav.items
    ]


def fit(match):
    """A table whose names break at underscores, and of three columns or more with what stands above each cell."""
    table = re.sub(r"(?<=<code>)\w+_\w+", lambda name: name[0].replace("_", "_<wbr>"), match[0])
    heads = [re.sub(r"<.*?>", "", head) for head in re.findall(r"<th[^>]*>(.*?)</th>", table)]
    if len(heads) < 3:
        return table
    labels = itertools.cycle(["<td", *(f'<td data-head="{head}"' if head else "<td" for head in heads[1:])])
    return re.sub(r"<td", lambda _: next(labels), table)


def on_page_content(html, page, config, files):
    place = pathlib.Path(page.file.abs_src_path).parent
    for path in re.findall(r'\b(?:src|srcset)="([^":]+)"', html):
        if not (place / path).exists():
            raise PluginError(f"{page.file.src_uri} shows {path}, which is not there")
    return re.sub(r"<table>.*?</table>", fit, html, flags=re.S)


def summary(markdown):
    """The first sentence below the title."""
    text = next((part for part in markdown.split("\n\n") if re.match(r"[A-Za-z*`\[]", part)), "")
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
    return re.split(r"(?<=[.:])\s(?=[A-Z`*\[-])", text)[0].rstrip(":")


def on_post_build(config):
    site = pathlib.Path(config.site_dir)
    lines, whole = [], []
    for title, pages in sections:
        lines.append(f"\n## {title}\n")
        for page in pages:
            path = page.file.src_uri
            (site / path).write_text(page.markdown, encoding="utf-8")
            lines.append(f"- [{page.title}]({path}): {summary(page.markdown)}")
            whole.append(f"<!-- {path} -->\n\n{page.markdown.strip()}\n")
    start = sections[0][1][0]
    head = [f"# {start.title}\n", f"> {summary(start.markdown)}\n", "All pages in one file: [llms-full.txt](llms-full.txt)"]
    (site / "llms.txt").write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n".join(whole), encoding="utf-8")
