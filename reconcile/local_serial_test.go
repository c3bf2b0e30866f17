package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// secondDialer makes connections on which keyspaces of datacentre dc1 have replicas in dc2, too: the cluster of a test
// has one.
type secondDialer struct{ gocql.Dialer }

func (d secondDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	return secondConn{conn}, err
}

type secondConn struct{ net.Conn }

// The class is shorter by the length of what is added, so that the lengths of the row and the frame are right.
const (
	oneDatacentre = "\x00\x00\x00\x02" + "\x00\x00\x00\x05class\x00\x00\x00\x34" +
		"org.apache.cassandra.locator.NetworkTopologyStrategy"
	twoDatacentre = "\x00\x00\x00\x03\x00\x00\x00\x03dc2\x00\x00\x00\x011" +
		"\x00\x00\x00\x05class\x00\x00\x00\x28assandra.locator.NetworkTopologyStrategy"
)

func (c secondConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte(oneDatacentre), []byte(twoDatacentre)))
	return n, err
}

// Conditions that hold within one datacentre need one: a run that sends them is rejected before anything is changed.
func TestLocalSerialInSeveralDatacentres(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[versionedCard]("card", cardTable, tables.Versioned("version"), tables.LocalSerial()))
	for name, test := range map[string]struct {
		second   bool
		options  []session.Option
		rejected bool
	}{
		"no LocalDC":     {true, nil, true},
		"LocalDC":        {true, []session.Option{session.LocalDC("dc1")}, false},
		"one datacentre": {false, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				openSet(t, c, set, handed)
				config := c.Config()
				config.Keyspace = "shop"
				if test.second {
					config.Dialer = secondDialer{config.Dialer}
				}
				s, err := session.Open(config, test.options...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				r, err := reconcile.New(s, handed)
				if err != nil {
					t.Fatal(err)
				}
				writers := reconcile.Writers(time.Now())
				for run, do := range map[string]func(...reconcile.Option) (*reconcile.Report, error){
					"Adopt": func(o ...reconcile.Option) (*reconcile.Report, error) {
						return r.Adopt(t.Context(), set, append(o, writers)...)
					},
					"Repair": func(o ...reconcile.Option) (*reconcile.Report, error) { return r.Repair(t.Context(), set, o...) },
					"Entity": func(o ...reconcile.Option) (*reconcile.Report, error) {
						return reconcile.Entity(t.Context(), r, set, versionedCard{ID: 1}, o...)
					},
				} {
					report, err := do()
					if test.rejected != (errors.Is(err, reconcile.ErrInvalid) && report == nil && strings.Contains(err.Error(),
						"set card has LocalSerial, and its keyspace several datacentres: give session.LocalDC (--local-dc)")) {
						t.Errorf("%s: %v\n%v", run, err, report)
					}
					if _, err := do(reconcile.DryRun()); errors.Is(err, reconcile.ErrInvalid) {
						t.Errorf("%s with DryRun: %v", run, err)
					}
				}
				if _, err := r.Verify(t.Context(), set); errors.Is(err, reconcile.ErrInvalid) {
					t.Errorf("Verify: %v", err)
				}
			})
		})
	}
}
