#!/bin/sh
# What of the library and its command does not compile with version 2 of the driver: docs/why/driver.md. This prints the errors and how many each package
# has, and fails if other packages than the four below have any. It is done in a copy of the tree without tests and examples.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/internal/tools
v2=github.com/apache/cassandra-gocql-driver/v2
version=$(cd internal/tools/driverbugs && go list -m -f '{{.Version}}' $v2)
copy=$(mktemp -d)
trap 'rm -r "$copy"' EXIT
tar -cf - $(git ls-files '*go.mod' go.sum '*.go' ':!*_test.go' ':!examples' ':!internal/testutil') | tar -xf - -C "$copy"
cd "$copy"
find . -name '*.go' -exec sed -i.old "s#github.com/gocql/gocql#$v2#" {} +
go get $v2@"$version"
others=$(go list -e -deps -f '{{if not (and .Module .Module.Main)}}{{.ImportPath}}{{end}}' ./...)
go list -export -json=ImportPath,Export $others >list
go list -e -deps -json=ImportPath,Dir,GoFiles,Module ./... >>list
go run "$tools/v2.go" <list >all
sed "s#^$copy/##" all | tee errors
sed 's#/[^/]*\.go:.*##' errors | sort | uniq -c
! grep -vE '^(internal/driver|internal/hosts|session|cassandratest)/[^/]*:' errors >/dev/null
