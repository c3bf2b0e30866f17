#!/bin/sh
# Unit tests with the fork of gocql by ScyllaDB: internal/tools/scylladb.mod, docs/why/driver.md. They run in virtual time, in many bubbles of
# testing/synctest, which ask two things of a driver: what it waits with must not go from one bubble to another by a sync.Pool, and
# nothing may sleep while it holds a Mutex that others wait for. So they run with a copy of the fork in which that is changed. go vet compiles all with
# the fork as it is.
#
#	internal/tools/scylladb.sh [arguments of go test]
set -eu
cd "$(dirname "$0")/../.."
mod=internal/tools/scylladb
missing=$(grep -v 'indirect$' go.mod | grep -vxFf $mod.mod) && { echo "$mod.mod: these lines of go.mod are missing: $missing" >&2; exit 1; }
go vet -tags scylladb -modfile=$mod.mod ./...
copy=bin/scylladb
rm -rf $copy
mkdir -p bin
cp -R "$(go list -modfile=$mod.mod -m -f '{{.Dir}}' github.com/gocql/gocql)" $copy
chmod -R u+w $copy
change() {
	file=$copy/$1
	cp "$file" $copy/before
	sed -E "$2" $copy/before >"$file"
	! cmp -s "$file" $copy/before || { echo "$mod.mod: $1 of this version has nothing to change: look at internal/tools/scylladb.sh" >&2; exit 1; }
}
change conn.go 's/(callReqPool|writeResultChanPool)\.Get\(\)/\1.New()/'
change debounce/simple_debouncer.go 's/m     sync.Mutex/m     chan struct{}/; s/&SimpleDebouncer\{\}/\&SimpleDebouncer{m: make(chan struct{}, 1)}/
	s/d\.m\.Lock\(\)/d.m <- struct{}{}/; s/d\.m\.Unlock\(\)/<-d.m/; /^	"sync"$/d'
sed "s#=> github.com/scylladb/gocql .*#=> ./$copy#" $mod.mod >$copy.mod
cp $mod.sum $copy.sum
exec go test -tags scylladb -modfile=$copy.mod "$@"
