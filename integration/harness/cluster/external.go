package cluster

import (
	"context"
	"fmt"
	"os"
	"time"
)

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
		var v view
		p, err := OpenProbe(ctx, host)
		if err == nil {
			v, err = p.view(ctx)
			p.Close()
		}
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
