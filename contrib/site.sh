#!/bin/sh
# Builds the pages as a site: contrib/site.sh MDBOOK STAGE OUT
# The pages link to each other by their paths in the repository, so the site has the same folders. They are copied to STAGE first, because mdBook copies
# all files next to its pages.
set -eu
mdbook=$1 stage=$2 out=$3
cd "$(dirname "$0")/.."
rm -rf "$stage"
mkdir -p "$stage/src"
git ls-files -z -- '*.md' 'LICENSE-*' CITATION.cff docs/pictures docs/schemas crates/eventlog/extensions |
    xargs -0 cp --parents --target-directory="$stage/src"
cp book.toml "$stage/"
# The table of contents is in docs/, and so are its links.
sed -E 's/\]\(([^)]+)\)/](docs\/\1)/' docs/SUMMARY.md >"$stage/src/SUMMARY.md"
cat >>"$stage/src/SUMMARY.md" <<'END'

# Project

- [flowmine](README.md)
- [Contributing](CONTRIBUTING.md)
- [Security policy](SECURITY.md)
- [Changelog](CHANGELOG.md)
- [Fixtures](fixtures/README.md)
END
rm "$stage/src/docs/SUMMARY.md"
"$mdbook" build --dest-dir "$out" "$stage"
# mdBook writes README.md as index.html, and leaves the links to it.
find "$out" -name '*.html' -exec sed -i 's/README\.html/index.html/g' {} +
