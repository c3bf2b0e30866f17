//go:build scylladb

package drivertest

import (
	"net"

	"github.com/gocql/gocql"
)

// Fork says that the driver is the fork of ScyllaDB.
const Fork = true

// ErrNoNode is the error of a request for which no node is up.
var ErrNoNode = gocql.ErrHostDown

// Host is a node, with an id unless that is empty. Its port is not set.
func Host(id, address string) *gocql.HostInfo {
	host := gocql.HostInfoBuilder{HostId: id, ConnectAddress: net.ParseIP(address)}.Build()
	return &host
}

// HasView says whether a keyspace has a materialized view of that name.
func HasView(ks *gocql.KeyspaceMetadata, name string) bool { return ks.Views[name] != nil }

// Fields are the names of the fields of a user-defined type of a keyspace, nil if it has none of that name.
func Fields(ks *gocql.KeyspaceMetadata, name string) []string {
	if t := ks.Types[name]; t != nil {
		return t.FieldNames
	}
	return nil
}

// Endless is a host selection policy whose plans do not end, as those of the fork's HostPool. That is in a package
// which gocql 1.7 has not, and go mod tidy of a service would look for it whatever the build tags.
func Endless() gocql.HostSelectionPolicy { return endless{gocql.RoundRobinHostPolicy()} }

type endless struct{ gocql.HostSelectionPolicy }

func (e endless) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	next := e.HostSelectionPolicy.Pick(q)
	return func() gocql.SelectedHost {
		h := next()
		if h == nil {
			next = e.HostSelectionPolicy.Pick(q)
			h = next()
		}
		return h
	}
}
