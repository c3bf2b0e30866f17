package hosts

import (
	"net"

	"github.com/gocql/gocql"
)

// Node is a session.Host.
type Node struct {
	ID         string
	IP         string
	Port       int
	Datacentre string
}

// NodeOf is what gocql knows of a node; nothing if info is nil.
func NodeOf(info *gocql.HostInfo) Node {
	if info == nil {
		return Node{}
	}
	n := Node{ID: info.HostID(), Port: info.Port(), Datacentre: info.DataCenter()}
	ip, _, err := net.SplitHostPort(info.ConnectAddressAndPort()) // ConnectAddress panics if there is none
	if err == nil && ip != net.IPv4zero.String() {
		n.IP = ip
	}
	return n
}
