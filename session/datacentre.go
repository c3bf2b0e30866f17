package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gocql/gocql"
)

// datacentre accepts the hosts of one datacentre that the filter of the caller, if there is one, accepts too.
type datacentre struct {
	name   string
	caller gocql.HostFilter // may be nil
	given  string           // where the name was given
}

// inDatacentre accepts the hosts of a datacentre that filter accepts. A datacentre that Configure was told before is replaced.
func inDatacentre(name string, filter gocql.HostFilter) datacentre {
	if before, ok := filter.(datacentre); ok {
		filter = before.caller
	}
	return datacentre{name, filter, "Configure"}
}

// Accept implements gocql.HostFilter.
func (d datacentre) Accept(host *gocql.HostInfo) bool {
	return host.DataCenter() == d.name && (d.caller == nil || d.caller.Accept(host))
}

// filterObserver is the host filter of a session, and collects what it leaves out while the session is opened. The session
// keeps it as long as it lives.
type filterObserver struct {
	gocql.HostFilter

	mu      sync.Mutex
	stopped bool
	out     []string
}

// Accept implements gocql.HostFilter.
func (f *filterObserver) Accept(host *gocql.HostInfo) bool {
	if f.HostFilter.Accept(host) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprintf("%s is in %s", host.ConnectAddressAndPort(), host.DataCenter())
	if !f.stopped && !slices.Contains(f.out, text) {
		f.out = append(f.out, text)
	}
	return false
}

// stop says which hosts were left out, and why; nothing if there were none.
func (f *filterObserver) stop() string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.out
	f.stopped, f.out = true, nil
	if len(out) == 0 {
		return ""
	}
	shown := strings.Join(out[:min(len(out), shownRefusals)], ", ")
	if more := len(out) - shownRefusals; more > 0 {
		shown += fmt.Sprintf(", and %d more", more)
	}
	local, ok := f.HostFilter.(datacentre)
	switch {
	case !ok:
		return "HostFilter leaves no host: " + shown
	case local.caller == nil:
		return fmt.Sprintf("no host that answers is in datacentre %s, the one given to %s: %s", local.name, local.given, shown)
	}
	return fmt.Sprintf("HostFilter and datacentre %s, the one given to %s, leave no host: %s", local.name, local.given, shown)
}
