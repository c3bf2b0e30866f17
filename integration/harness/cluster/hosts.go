package cluster

import (
	"fmt"
	"net"
	"strconv"
	"strings"
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

func loopbacks(nodes int) []string {
	hosts := make([]string, nodes)
	for i := range hosts {
		hosts[i] = loopback(i + 1)
	}
	return hosts
}
