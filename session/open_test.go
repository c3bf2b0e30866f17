package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Open gives two sessions, set up, and changed as Adjust says; the configuration stays as it was, and Close ends both.
func TestOpen(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
		config := c.Config()
		config.Keyspace = "shop"
		before := *config
		var adjusted []*gocql.ClusterConfig
		s, err := session.Open(config, session.LocalDC("dc1"), session.Adjust(func(own *gocql.ClusterConfig) {
			if own.HostFilter == nil || own.RetryPolicy.Attempt(nil) || own.ProtoVersion != 4 {
				t.Errorf("Adjust is called before Configure: %+v", own)
			}
			own.NumConns = 1
			adjusted = append(adjusted, own)
		}))
		if err != nil {
			t.Fatal(err)
		}
		if len(adjusted) != 2 || adjusted[0] == adjusted[1] || adjusted[0] == config {
			t.Errorf("%d configurations were adjusted", len(adjusted))
		}
		if config.HostFilter != nil || config.NumConns != before.NumConns || config.Consistency != before.Consistency ||
			config.FrameHeaderObserver != nil {
			t.Error("the configuration was changed")
		}
		if s.Reads() == s.Writes() {
			t.Error("one session reads and writes")
		}
		w, err := writer.New(s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		other, err := session.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"writer": explained(w.With(writer.Session(other))), "reader": read(t, r.With(reader.Session(other))),
		} {
			if err == nil || !strings.Contains(err.Error(), "Session: it has other connections than the "+name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		other.Close()
		s.With(session.Keyspaces(nil)).Close() // the connections are those of s
		if s.Reads().Closed() || s.Writes().Closed() {
			t.Error("Close of a derived session ended the connections")
		}
		for range 2 {
			s.Close()
		}
		if !s.Reads().Closed() || !s.Writes().Closed() {
			t.Error("Close left a session open")
		}
	})
}

func explained(w *writer.Writer) error {
	_, err := w.Internal().Explain("nothing")
	return err
}

type row struct{ ID string }

var rows = tables.Must(tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}}))

func read(t *testing.T, r *reader.Reader) error {
	t.Helper()
	_, _, err := reader.List(t.Context(), r, "list", reader.From(rows, "rows").Eq("id", "a"))
	return err
}

// What is wrong is said before a connection is made, and all of it.
func TestSessionErrors(t *testing.T) {
	t.Parallel()
	reads := new(gocql.Session)
	config := gocql.NewCluster("127.0.0.1")
	for want, open := range map[string]func() (*session.Session, error){
		"the configuration is nil":      func() (*session.Session, error) { return session.Open(nil) },
		"the session that reads is nil": func() (*session.Session, error) { return session.New(nil, nil) },
		"LocalDC is an option of Open": func() (*session.Session, error) {
			return session.New(nil, reads, session.LocalDC("dc1"))
		},
		"Adjust: the function is nil": func() (*session.Session, error) {
			return session.Open(config, session.Adjust(nil))
		},
		"Adjust is an option of Open": func() (*session.Session, error) {
			return session.New(nil, reads, session.Adjust(func(*gocql.ClusterConfig) {}))
		},
		"Budget: the budget is nil": func() (*session.Session, error) { return session.Open(config, session.Budget(nil)) },
		"Budget: retry: the budget was not made by NewBudget": func() (*session.Session, error) {
			return session.Open(config, session.Budget(&retry.Budget{}))
		},
		`Keyspaces: "a b" is not a name of`: func() (*session.Session, error) {
			return session.Open(config, session.Keyspaces(map[string]string{"": "a b"}))
		},
		"an option is nil\nBudget": func() (*session.Session, error) {
			return session.Open(config, nil, session.Budget(nil))
		},
	} {
		s, err := open()
		if err == nil || s != nil || !strings.HasPrefix(err.Error(), "denorm: session: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s, err := session.New(nil, reads)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.New(s); err == nil || !strings.Contains(err.Error(), "the session only reads") {
		t.Errorf("a writer of a session that only reads: %v", err)
	}
	if b := retry.NewBudget(1, 0); s.With(session.Budget(b)).With(nil).Settings().Err == nil || s.Settings().Err != nil {
		t.Error("an option of With that is not valid is lost, or is that of the session it comes from")
	}
}

// A keyspace that cannot be in CQL without quotes is rejected before anything is done in it, also of a session that is
// open: shop and "Shop" are two keyspaces.
func TestKeyspaceOfAnotherSpelling(t *testing.T) {
	t.Parallel()
	for _, keyspace := range []string{"Shop", `sh"op`, strings.Repeat("x", 49)} {
		config := gocql.NewCluster("127.0.0.1")
		config.Keyspace = keyspace
		if s, err := session.Open(config); s != nil || err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("the keyspace of the session, %q, must be", keyspace)) {
			t.Errorf("%v, %v", s, err)
		}
	}
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(`CREATE KEYSPACE "MyShop" WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}`)
		config := c.Config()
		config.Keyspace = "MyShop"
		session.Configure(config, "")
		reads, err := session.Connect(config)
		if err != nil {
			t.Fatal(err)
		}
		defer reads.Close()
		if s, err := session.New(nil, reads); s != nil || err == nil ||
			!strings.Contains(err.Error(), `the keyspace of the session, "MyShop", must be`) {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// A policy of the caller's in the configuration is an error, as it would be replaced; one of Configure's is not, and
// Adjust may set any.
func TestOpenWithPolicy(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		for name, set := range map[string]func(*gocql.ClusterConfig){
			"(*gocql.tokenAwareHostPolicy)": func(config *gocql.ClusterConfig) {
				config.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy("dc7"))
			},
			"(*hosts.Policy)": func(config *gocql.ClusterConfig) {
				session.SelectHosts(config, gocql.DCAwareRoundRobinPolicy("dc7"))
			},
		} {
			config := c.Config()
			set(config)
			s, err := session.Open(config)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), "use LocalDC, or Adjust with SelectHosts") {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, open := range map[string]func() (*session.Session, error){
			"configured": func() (*session.Session, error) { return session.Open(session.Configure(c.Config(), "")) },
			"adjusted": func() (*session.Session, error) {
				return session.Open(c.Config(), session.Adjust(func(config *gocql.ClusterConfig) {
					session.SelectHosts(config, gocql.DCAwareRoundRobinPolicy("dc1"))
				}))
			},
		} {
			s, err := open()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			s.Close()
		}
	})
}

type silent struct{}

func (silent) TraceStart(ctx context.Context, _ session.OperationStart) context.Context { return ctx }
func (silent) TraceEnd(context.Context, session.OperationEnd)                           {}

// The second of two tracers would take the place of the first without a word, but for one that With gives in place of
// an earlier one.
func TestTraceTwice(t *testing.T) {
	t.Parallel()
	s, one := new(session.Session), session.Trace(silent{})
	if err := s.With(one, one).Settings().Err; err == nil || !strings.Contains(err.Error(), "tracing.Multi") {
		t.Errorf("two in one call: %v", err)
	}
	if err := s.With(one).With(one).Settings().Err; err != nil {
		t.Errorf("one in each of two calls: %v", err)
	}
}
