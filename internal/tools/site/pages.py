"""Hooks of mkdocs: which pages there are, in which order, and where links out of docs/ lead."""
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
# Pages of other names than their files: the first page is the repository's, and docs/README.md is the second one.
RENAMED = {"README.md": "index.md", "docs/README.md": "pages.md"}
BADGE = re.compile(r"^\[!\[.*\n", re.MULTILINE)  # loaded from elsewhere
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def on_files(files, config):
    """Adds the two README, and makes the navigation of what docs/README.md links, under its headings."""
    files.remove(files.get_file_from_path("README.md"))
    for path, name in RENAMED.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "site.css", abs_src_path=str(HERE / "site.css")))
    listed, seen = {}, set(RENAMED.values())
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        if line.startswith("## "):
            listed[line[3:]] = []
        for _, target, _ in LINK.findall(line):
            if line.startswith("- ") and target.endswith(".md") and not target.startswith("..") and target not in seen:
                seen.add(target)
                listed[list(listed)[-1]].append(target)
    nav = [{title: targets} for title, targets in listed.items()]
    for folder, title in {"figures": "Figures", "design": "Design"}.items():
        rest = [f.src_uri for f in files.documentation_pages() if f.src_uri.startswith(folder) and f.src_uri not in seen]
        nav.append({title: sorted(rest)})
    begin = ["tutorial.md"] if files.get_file_from_path("tutorial.md") and "tutorial.md" not in seen else []
    config.nav = [{"denorm": "index.md"}, {"All pages": "pages.md"}] + begin + nav
    return files


def on_page_markdown(markdown, page, config, files):
    """Leads links to pages of the site, or else to the repository."""
    uri = page.file.src_uri
    source = next((path for path, name in RENAMED.items() if name == uri), "docs/" + uri)

    def lead(match):
        before, target, after = match.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if not (ROOT / path).exists():  # an address, or code
            return match.group()
        name = RENAMED.get(path, path.removeprefix("docs/"))
        if path not in RENAMED and not (path.startswith("docs/") and files.get_file_from_path(name)):
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"{before}{config.extra['repository']}/{kind}/main/{path}{after}"
        return before + posixpath.relpath(name, posixpath.dirname(uri) or ".") + after

    return LINK.sub(lead, BADGE.sub("", markdown))
