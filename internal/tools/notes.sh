#!/bin/sh
# Prints the notes of a release: the section of CHANGELOG.md of its version, without line breaks inside of paragraphs, as GitHub shows
# those of release notes, and with links that lead into the tag. It fails unless the section has a date and a text, below "Unreleased".
#
#	internal/tools/notes.sh v0.1.0 [CHANGELOG.md]
set -eu
version=${1-}
file=${2-$(dirname "$0")/../../CHANGELOG.md}
case $version in
v[0-9]*.[0-9]*.[0-9]*) ;;
*)
	echo "notes.sh: version \"$version\": give a tag, such as v0.1.0" >&2
	exit 2
	;;
esac
[ -r "$file" ] || { echo "notes.sh: cannot read $file" >&2; exit 1; }
notes=$(awk -v version="${version#v}" -v file="$file" '
function fail(text) {
	print file ": " text | "cat >&2"
	close("cat >&2")
	failed = 1
	exit 1
}
/^## / { inside = 0 }
$0 == "## Unreleased" { unreleased = 1 }
/^## / && $2 == version {
	if (!unreleased) fail("\"## Unreleased\" is not above version " version ": put a new one there")
	if (found) fail("line " NR ": a second section of version " version ": leave one of them")
	if ($0 !~ /^## [^ ]+ - [0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]$/)
		fail("line " NR ": \"" $0 "\" has no date: write \"## " version " - YYYY-MM-DD\"")
	found = inside = 1
	next
}
inside && /^ *```/ { fenced = !fenced }
inside && !fenced && length(line) && line !~ /^(#| *```)/ && /[^ ]/ && !/^ *([-*+] |[0-9]+\. |[#|>]|```)/ { # goes on with the paragraph or item above
	sub(/^ +/, "")
	line = line " " $0
	next
}
inside {
	text = text line "\n"
	line = $0
	if (/[^ ]/ && !/^#/) filled = 1
}
END {
	if (failed) exit 1
	if (!found) fail("no section of version " version ": write \"## " version " - YYYY-MM-DD\" below \"## Unreleased\"")
	if (!filled) fail("the section of version " version " has no text: say what is new for users")
	text = text line "\n"
	sub(/^\n+/, "", text)
	sub(/\n+$/, "", text)
	print text
}' "$file")
printf '%s\n' "$notes" | sed "s,](\([^):#][^):]*\)),](https://github.com/denorm-go/denorm/blob/$version/\1),g"
