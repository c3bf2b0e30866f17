//go:build !scylladb

package drivertest

import (
	"net"

	"github.com/gocql/gocql"
	hostpool "github.com/hailocab/go-hostpool"
)

// Fork says that the driver is the fork of ScyllaDB.
const Fork = false

// ErrNoNode is the error of a request for which no node is up.
var ErrNoNode = gocql.ErrNoConnections

// Host is a node, with an id unless that is empty. Its port cannot be set.
func Host(id, address string) *gocql.HostInfo {
	host := new(gocql.HostInfo).SetConnectAddress(net.ParseIP(address))
	host.SetHostID(id)
	return host
}

// HasView says whether a keyspace has a materialized view of that name.
func HasView(ks *gocql.KeyspaceMetadata, name string) bool { return ks.MaterializedViews[name] != nil }

// Fields are the names of the fields of a user-defined type of a keyspace, nil if it has none of that name.
func Fields(ks *gocql.KeyspaceMetadata, name string) []string {
	if t := ks.UserTypes[name]; t != nil {
		return t.FieldNames
	}
	return nil
}

// Endless is a host selection policy whose plans do not end.
func Endless() gocql.HostSelectionPolicy { return gocql.HostPoolHostPolicy(hostpool.New(nil)) }
