"""Writes the licences of all that is linked into the binary, for those who pass it on.

In: the target as rustc names it, then options of `cargo metadata` (features); out, on standard output: a list of packages with
version and licence, then each licence's text once, with the packages that have it. A package without a text is
in the list only. Sorted, so that the same Cargo.lock gives the same bytes.
"""

import json
import os
import pathlib
import subprocess
import sys

target = sys.argv[1]
metadata = json.loads(
    subprocess.run(
        [os.environ.get("CARGO", "cargo"), "metadata", "--format-version", "1", "--locked", "--filter-platform", target, *sys.argv[2:]],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
)
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
ours = set(metadata["workspace_members"])


def linked(dependency):
    """Whether it is linked in: not a test's, not a build script's, unless that holds C sources (openssl-src)."""
    name = packages[dependency["pkg"]]["name"]
    return any(kind["kind"] is None or (kind["kind"] == "build" and name.endswith("-src")) for kind in dependency["dep_kinds"])


def is_macro(package):
    return any("proc-macro" in kind for t in package["targets"] for kind in t["kind"])


seen, left = set(), [metadata["resolve"]["root"]]
while left:
    node = left.pop()
    if node in seen or is_macro(packages[node]):
        continue
    seen.add(node)
    # What a package of C sources depends on only builds them.
    if not packages[node]["name"].endswith("-src"):
        left.extend(d["pkg"] for d in nodes[node]["deps"] if linked(d))

texts = {}
names = []
for identity in sorted(seen - ours, key=lambda i: (packages[i]["name"], packages[i]["version"])):
    package = packages[identity]
    name = f"{package['name']} {package['version']}"
    names.append(f"{name}: {package['license'] or 'see its text'}")
    folder = pathlib.Path(package["manifest_path"]).parent
    found = []
    # C libraries that a package brings along lie in folders below it.
    for pattern in ("*", "*/*", "*/*/*"):
        found += [f for f in folder.glob(pattern) if f.is_file() and f.name.upper().startswith(("LICEN", "COPYING", "NOTICE", "UNLICENSE"))]
    for file in sorted(set(found)):
        if file.suffix in (".rs", ".py", ".js", ".json", ".toml", ".c", ".h"):
            continue
        text = file.read_text(encoding="utf-8", errors="replace").strip()
        if text:
            texts.setdefault(text, []).append(f"{name} ({file.relative_to(folder)})")

print("flowmine is linked with these packages:\n")
print("\n".join(names))
for text, of in sorted(texts.items(), key=lambda item: item[1]):
    print("\n" + "=" * 100 + "\n" + "\n".join(of) + "\n" + "-" * 100 + "\n" + text)
