//go:build scylladb

package drivertest

import (
	"net"

	"github.com/gocql/gocql"
	"github.com/gocql/gocql/hostpolicy"
	hostpool "github.com/hailocab/go-hostpool"
)

// Fork says that the driver is the fork of ScyllaDB.
const Fork = true

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

// Endless is a host selection policy whose plans do not end.
func Endless() gocql.HostSelectionPolicy { return hostpolicy.HostPool(hostpool.New(nil)) }
