module github.com/denorm-go/denorm/integration

go 1.25.0

require (
	github.com/gocql/gocql v1.7.0
	github.com/schollz/progressbar/v3 v3.18.0
	github.com/scylladb/gocqlx/v2 v2.8.0
	go.uber.org/goleak v1.3.0
	golang.org/x/term v0.28.0
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/scylladb/go-reflectx v1.0.1 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

require (
	github.com/denorm-go/denorm v0.0.0
	github.com/golang/snappy v0.0.4 // indirect
	github.com/hailocab/go-hostpool v0.0.0-20160125115350-e80d13ce29ed // indirect
	gopkg.in/inf.v0 v0.9.1
)

replace github.com/denorm-go/denorm => ../
