package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"
)

// datacentre accepts the hosts of one datacentre that the filter of the caller, if there is one, accepts too.
type datacentre struct {
	name   string
	caller gocql.HostFilter // may be nil
	given  string           // where the name was given
}

// inDatacentre accepts the hosts of a datacentre that filter accepts. A datacentre that Configure was told before is
// replaced.
func inDatacentre(name string, filter gocql.HostFilter) datacentre {
	if before, ok := filter.(datacentre); ok {
		filter = before.caller
	}
	return datacentre{name, filter, "Configure"}
}

// limit is the datacentre that a filter limits a session to, empty if that is not known.
func limit(filter gocql.HostFilter) string {
	local, _ := filter.(datacentre)
	return local.name
}

// Accept implements gocql.HostFilter.
func (d datacentre) Accept(host *gocql.HostInfo) bool {
	return host.DataCenter() == d.name && (d.caller == nil || d.caller.Accept(host))
}

// Accept implements gocql.HostFilter.
func (o *opening) Accept(host *gocql.HostInfo) bool {
	if o.filter.Accept(host) {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	text := fmt.Sprintf("%s is in %s", host.ConnectAddressAndPort(), host.DataCenter())
	if !o.stopped && !slices.Contains(o.out, text) {
		o.out = append(o.out, text)
	}
	return false
}

// filtered says why hosts were left out; nothing if none was.
func (o *opening) filtered() string {
	if len(o.out) == 0 {
		return ""
	}
	shown := strings.Join(few(o.out), ", ")
	local, ok := o.filter.(datacentre)
	switch {
	case !ok:
		return "HostFilter leaves no host: " + shown
	case local.caller == nil:
		return fmt.Sprintf("no host that answers is in datacentre %s, the one given to %s: %s", local.name, local.given,
			shown)
	}
	return fmt.Sprintf("HostFilter and datacentre %s, the one given to %s, leave no host: %s", local.name, local.given,
		shown)
}
