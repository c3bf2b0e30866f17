package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/denorm-go/denorm/session"
)

// appendCoordinator adds what is known of a coordinator.
func appendCoordinator(to []attribute.KeyValue, host session.Host) []attribute.KeyValue {
	if ip := host.IP(); ip != "" {
		to = append(to, semconv.ServerAddress(ip), semconv.NetworkPeerAddress(ip))
		if port := host.Port(); port > 0 {
			to = append(to, semconv.ServerPort(port), semconv.NetworkPeerPort(port))
		}
	}
	if id := host.ID(); id != "" {
		to = append(to, semconv.CassandraCoordinatorID(id))
	}
	if dc := host.Datacentre(); dc != "" {
		to = append(to, semconv.CassandraCoordinatorDC(dc))
	}
	return to
}
