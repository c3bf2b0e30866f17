package tracing

import (
	"net"

	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// address of a host; empty if it has none. gocql's ConnectAddress panics if it has none.
func address(host *gocql.HostInfo) string {
	ip, _, err := net.SplitHostPort(host.ConnectAddressAndPort())
	if err != nil || ip == net.IPv4zero.String() {
		return ""
	}
	return ip
}

// appendCoordinator adds what is known of a coordinator, which may be nil.
func appendCoordinator(to []attribute.KeyValue, host *gocql.HostInfo) []attribute.KeyValue {
	if host == nil {
		return to
	}
	if ip := address(host); ip != "" {
		to = append(to, semconv.ServerAddress(ip), semconv.NetworkPeerAddress(ip))
		if port := host.Port(); port > 0 {
			to = append(to, semconv.ServerPort(port), semconv.NetworkPeerPort(port))
		}
	}
	if id := host.HostID(); id != "" {
		to = append(to, semconv.CassandraCoordinatorID(id))
	}
	if dc := host.DataCenter(); dc != "" {
		to = append(to, semconv.CassandraCoordinatorDC(dc))
	}
	return to
}
