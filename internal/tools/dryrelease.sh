#!/bin/sh
# A dry run of a release, as CONTRIBUTING.md describes it: a clean clone of what is committed gets the section of the version in CHANGELOG.md
# and the tag, unless they are there already. The notes are printed, and a stranger gets the tag from a proxy of files. Nothing is pushed.
#
#	internal/tools/dryrelease.sh v0.1.0
set -eu
version=${1:?"give a tag, such as v0.1.0"}
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ -z "$(git -C "$root" status --porcelain)" ] || echo "dryrelease.sh: what is not committed is not part of the dry run" >&2
git clone --quiet --no-hardlinks "$root" "$scratch/denorm"
cd "$scratch/denorm"
if commit=$(git rev-parse --quiet --verify "refs/tags/$version^{commit}"); then
	[ "$commit" = "$(git rev-parse HEAD)" ] || { echo "dryrelease.sh: $version is the tag of another commit, $commit: give the next version" >&2; exit 1; }
else
	(cd reconcile/temporal && go mod edit -require="github.com/denorm-go/denorm@$version")
	if ! grep -qF "## ${version#v} " CHANGELOG.md; then
		awk -v section="## ${version#v} - $(date +%Y-%m-%d)" '{ print } /^## Unreleased$/ { print "\n" section }' CHANGELOG.md >"$scratch/changelog"
		mv "$scratch/changelog" CHANGELOG.md
	fi
	git diff --quiet || git -c user.name=denorm -c user.email=denorm@example.com -c commit.gpgSign=false commit --quiet --all --message "$version"
	git -c tag.gpgSign=false tag "$version"
fi
git -c tag.gpgSign=false tag --force "reconcile/temporal/$version" >/dev/null
internal/tools/notes.sh "$version"
cd integration
go test -count=1 -timeout 40m -v ./suite/install -release "$version"
