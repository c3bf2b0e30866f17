package session

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/gocql/gocql"
)

// Connect opens a session as [gocql.ClusterConfig.CreateSession] does, and verifies certificates as [Configure] says.
// The error names each host and what is wrong with it: credentials, certificate, authority, protocol, datacentre or
// keyspace. It unwraps to the errors of the connections, such as [x509.HostnameError], and holds no password and no
// key. SslOpts are rejected with a HostDialer, as gocql would ignore them, and with TLS older than 1.2.
//
// ConnectTimeout bounds the TLS handshake, too. The config is not changed. It may be given to Connect again if
// Configure has set its host selection policy; any other policy belongs to one session.
func Connect(cluster *gocql.ClusterConfig) (*gocql.Session, error) {
	if cluster == nil {
		return nil, &connectError{driver: errors.New("the config is nil")}
	}
	config := *cluster
	if err := ownPolicy(&config); err != nil {
		return nil, &connectError{driver: err}
	}
	if err := checkEncryption(&config); err != nil {
		return nil, &connectError{driver: err}
	}
	config.SslOpts = verified(config.SslOpts)
	dialer, err := newHostDialer(&config)
	if err != nil {
		return nil, &connectError{driver: err}
	}
	config.HostDialer = dialer
	seen := &opening{next: cluster.ConnectObserver, patience: config.ConnectTimeout, filter: config.HostFilter}
	config.ConnectObserver = seen
	if config.HostFilter != nil {
		config.HostFilter = seen
	}
	session, err := config.CreateSession()
	refusals, filtered := seen.stop()
	if err != nil {
		return nil, &connectError{
			driver: err, hosts: config.Hosts, refusals: refusals, filtered: filtered,
			keyspace: config.Keyspace, encrypted: config.SslOpts != nil || cluster.HostDialer != nil,
		}
	}
	return session, nil
}

var errShared = errors.New("the host selection policy is of another session: call Configure, or SelectHosts, before " +
	"each Connect")

// ownPolicy ensures that the session will not share its host selection policy with another one.
func ownPolicy(config *gocql.ClusterConfig) error {
	policy, ok := config.PoolConfig.HostSelectionPolicy.(*hosts.Policy)
	if fresh := policy.Fresh(); fresh != nil {
		policy, config.PoolConfig.HostSelectionPolicy = fresh, fresh
		config.FrameHeaderObserver = fresh.Observe(config.FrameHeaderObserver)
	} else if hosts.Taken(config.PoolConfig.HostSelectionPolicy) {
		return errShared
	}
	if ok {
		policy.Datacentre = limit(config.HostFilter) // it may be another one since SelectHosts
	}
	return nil
}

// refusal is a host that could not be connected to.
type refusal struct {
	host   string
	err    error
	broken bool // err is startupTimeout, but too early for one
}

// startupTimeout is gocql's error if nothing has come in time, and often also if the node has closed the connection.
const startupTimeout = "gocql: no response to connection startup within timeout"

// opening observes connections and filters hosts, and collects what fails while a session is opened. The session keeps
// it as long as it lives.
type opening struct {
	next     gocql.ConnectObserver // the caller's; may be nil
	patience time.Duration         // ConnectTimeout
	filter   gocql.HostFilter      // the caller's, or of a datacentre; may be nil

	mu       sync.Mutex
	stopped  bool
	refusals []refusal // the first one of each host that says something: later ones may only say that gocql gave up
	out      []string  // hosts that the filter has left out
}

// ObserveConnect implements gocql.ConnectObserver.
func (o *opening) ObserveConnect(connect gocql.ObservedConnect) {
	if o.next != nil {
		o.next.ObserveConnect(connect)
	}
	if connect.Err == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return
	}
	r := refusal{host: connect.Host.ConnectAddressAndPort(), err: connect.Err}
	r.broken = r.err.Error() == startupTimeout && connect.End.Sub(connect.Start) < o.patience
	i := slices.IndexFunc(o.refusals, func(earlier refusal) bool { return earlier.host == r.host })
	if i < 0 {
		o.refusals = append(o.refusals, r)
	} else if o.refusals[i].broken {
		o.refusals[i] = r
	}
}

func (o *opening) stop() (refusals []refusal, filtered string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	refusals, filtered = o.refusals, o.filtered()
	o.stopped, o.refusals, o.out = true, nil, nil
	return refusals, filtered
}

// connectError is why there is no session.
type connectError struct {
	driver    error // what CreateSession returned
	hosts     []string
	refusals  []refusal
	filtered  string // why hosts were left out; empty if none was
	keyspace  string
	encrypted bool
}

// few are the first three of some texts, and how many more there are: a wrong password is wrong on each of a hundred
// nodes.
func few(texts []string) []string {
	if more := len(texts) - 3; more > 0 {
		texts = append(texts[:3:3], fmt.Sprintf("and %d more", more))
	}
	return texts
}

func (e *connectError) Error() string {
	parts := each.Of(e.refusals, func(r refusal) string {
		if hint := e.hint(r); hint != "" {
			return r.host + ": " + hint + ": " + r.err.Error()
		}
		return r.host + ": " + r.err.Error()
	})
	none := errors.Is(e.driver, gocql.ErrNoConnectionsStarted)
	told := slices.ContainsFunc(e.refusals, func(r refusal) bool {
		return none || strings.Contains(e.driver.Error(), r.err.Error()) // gocql wraps the text, not the error
	})
	if parts = few(parts); !told {
		parts = append(parts, e.told())
	}
	text := "denorm: no session: " + strings.Join(parts, "; ")
	// Connections were made, and the one thing that is done with them before they count is to choose the keyspace.
	if none && len(e.refusals) == 0 && e.keyspace != "" {
		text += fmt.Sprintf(": keyspace %s cannot be used, is it there? Create it, or open the session without "+
			"ClusterConfig.Keyspace", e.keyspace)
	}
	return printable.Line(text) // of whoever answers at the address
}

// told is the text of the error that the driver returned, or a better one.
func (e *connectError) told() string {
	text := e.driver.Error()
	switch {
	case e.filtered != "" && strings.Contains(text, "host was filtered"): // gocql's text has the address alone
		return e.filtered
	case strings.Contains(text, "failed to resolve any"): // and here no host
		text = "no address found for host " + strings.Join(few(each.Of(e.hosts, strconv.Quote)), ", ")
		if slices.ContainsFunc(e.hosts, func(host string) bool { return strings.ContainsAny(host, ", ;") }) {
			text += " (it takes one string for each host)"
		}
	}
	return text
}

// Unwrap returns the errors of the connections, and the one that the driver returned.
func (e *connectError) Unwrap() []error {
	return append([]error{e.driver}, each.Of(e.refusals, func(r refusal) error { return r.err })...)
}

// hint says which part of a configuration an error is about, where its text does not.
func (e *connectError) hint(r refusal) string {
	err := r.err
	var alert *net.OpError
	server, answered := driver.RequestError(err)
	switch {
	case answered && server.Code() == gocql.ErrCodeCredentials:
		return "credentials rejected"
	case strings.HasPrefix(err.Error(), "authentication required"): // gocql has no type for it
		return "credentials missing, Authenticator is not set"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the node's certificate is of an authority that SslOpts does not trust"
	case errors.As(err, new(x509.HostnameError)):
		return "the node's certificate is for another name (nodes are known by address, " +
			"unless SslOpts.Config.ServerName is a name that all certificates share)"
	case errors.As(err, new(x509.CertificateInvalidError)):
		return "the node's certificate is not valid"
	case errors.As(err, new(tls.RecordHeaderError)):
		return "no TLS at this port, or not this protocol"
	case errors.As(err, &alert) && alert.Op == "remote error" && strings.Contains(alert.Err.Error(), "certificate"):
		return "the node does not accept the certificate of this client, or wants one"
	case errors.As(err, &alert) && alert.Op == "remote error", e.encrypted && r.broken:
		return "the node broke off, its log says why, often for the certificate of this client"
	case !e.encrypted && strings.HasPrefix(err.Error(), "gocql: unsupported protocol response version: 21"):
		// the type of a TLS alert
		return "this port expects TLS (SslOpts is not set)"
	case !e.encrypted && (r.broken || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
		return "closed by the node at the first request, as a port does that expects TLS (SslOpts is not set)"
	default:
		return ""
	}
}
