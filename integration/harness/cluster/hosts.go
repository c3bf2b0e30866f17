package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// ExternalEnv names the environment variable that points to a cluster of one's own.
	ExternalEnv = "CASSANDRA_HOSTS"
	// TestHostsEnv names the environment variable in which tests find the cluster that was brought up for them.
	TestHostsEnv = "DENORM_TEST_HOSTS"

	cqlPort     = 9042
	storagePort = 7000
)

// parseHosts reads a comma separated list of host[:port].
func parseHosts(list string) ([]string, error) {
	var hosts []string
	for field := range strings.SplitSeq(list, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		host, port, err := net.SplitHostPort(address(field))
		n, failed := strconv.ParseUint(port, 10, 16)
		if err != nil || failed != nil || n == 0 || host == "" || strings.ContainsAny(host, " \t/@") ||
			strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return nil, fmt.Errorf("host %q: want host[:port] with a port between 1 and 65535", field)
		}
		hosts = append(hosts, field)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("no host in %q: want host[:port],host[:port]", list)
	}
	return hosts, nil
}

// address returns host:port for dialing a host as [parseHosts] accepts it.
func address(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(cqlPort))
}

// loopback returns the address of local node n, counted from 1.
func loopback(n int) string { return "127.0.0." + strconv.Itoa(n) }

func loopbacks(nodes int) []string { return numbered(nodes, loopback) }

// numbered is something of each node, counted from 1.
func numbered[T any](nodes int, of func(number int) T) []T {
	out := make([]T, nodes)
	for i := range out {
		out[i] = of(i + 1)
	}
	return out
}

// external returns the hosts of a cluster of one's own, or none if the environment names none.
func external() ([]string, error) {
	list := os.Getenv(ExternalEnv)
	if list == "" {
		return nil, nil
	}
	hosts, err := parseHosts(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ExternalEnv, err)
	}
	return hosts, nil
}

// checkExternal makes sure that every host answers and that the cluster is large enough.
func checkExternal(ctx context.Context, hosts []string, nodes int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, host := range hosts {
		v, err := look(ctx, host)
		if err != nil {
			return fmt.Errorf("%s: %s does not answer CQL: %w; start it, or unset %[1]s", ExternalEnv, host, err)
		}
		if v.nodes < nodes {
			return fmt.Errorf("%s: the cluster at %s has %d node(s), %d are needed; unset %[1]s to have them started",
				ExternalEnv, host, v.nodes, nodes)
		}
	}
	return nil
}
