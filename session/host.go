package session

import (
	"net"

	"github.com/gocql/gocql"
)

// Host is a node of the cluster. The zero value stands for an unknown node.
type Host struct{ info *gocql.HostInfo }

// HostOf returns the node of info, which may be nil.
func HostOf(info *gocql.HostInfo) Host { return Host{info} }

// Known reports whether h is a node.
func (h Host) Known() bool { return h.info != nil }

// node is what gocql knows of h: nothing if h is not a node.
func (h Host) node() *gocql.HostInfo {
	if h.info == nil {
		return new(gocql.HostInfo)
	}
	return h.info
}

// IP returns the address that the session connects to; empty if it is not known.
func (h Host) IP() string {
	ip, _, err := net.SplitHostPort(h.node().ConnectAddressAndPort()) // ConnectAddress panics if there is none
	if err != nil || ip == net.IPv4zero.String() {
		return ""
	}
	return ip
}

// Port returns the port of the address; 0 if it is not known.
func (h Host) Port() int { return h.node().Port() }

// ID returns the host id, a UUID as text; empty if it is not known.
func (h Host) ID() string { return h.node().HostID() }

// Datacentre returns the node's datacentre; empty if it is not known.
func (h Host) Datacentre() string { return h.node().DataCenter() }
