package differential_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/load/differential"
	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

var (
	long   = flag.Bool("long", false, "100,000 statements")
	seed   = flag.Uint64("seed", 0, "of the statements; 0 takes the time")
	size   = flag.Int("size", 5_000, "statements")
	record = flag.String("record", "", "write what Cassandra has answered into this file")
)

// open gives both clusters a keyspace with the same tables.
func open(t *testing.T) (p differential.Pair, keyspace string) {
	t.Helper()
	keyspace = cluster.Keyspace(t, 3, differential.Definitions()...)
	configure := func(c *gocql.ClusterConfig) {
		transcript.Configure(c)
		c.Keyspace = keyspace
		c.Timeout, c.ConnectTimeout = 20*time.Second, 20*time.Second
	}
	local := cassandratest.Start(t, 3)
	local.Create("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	config := local.Config()
	configure(config)
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	p = differential.Pair{Real: cluster.Session(t, keyspace, configure), InProcess: session}
	for _, definition := range differential.Definitions() {
		if err := p.InProcess.Query(definition).Exec(); err != nil {
			t.Fatalf("%s: %v", definition, err)
		}
	}
	return p, keyspace
}

// Generated statements give the same on a real cluster and on the one in the process, and so do those that once did
// not.
func TestDifferential(t *testing.T) {
	v := cluster.Version(t)
	if cluster.Differs(v, t.Name(), "") {
		t.Skipf("Cassandra %s is not compared", v)
	}
	plan := differential.Plan{Seed: *seed, Statements: *size, Lanes: 16, Old: cluster.Differs(v, t.Name(), "MAXWRITETIME")}
	if *long {
		plan.Statements = 100_000
	}
	if plan.Seed == 0 {
		plan.Seed = uint64(time.Now().Unix())
	}
	p, keyspace := open(t)
	regressions(t, p)
	start := time.Now()
	r := differential.Compare(t.Context(), p, plan)
	t.Logf("seed %d: %d statements in %v, with %d rows; %d were refused; %d of %d rounds were given up after a timeout",
		plan.Seed, r.Statements, time.Since(start).Round(time.Second), r.Rows, r.Refused, r.Lost, r.Lost+len(r.Rounds))
	for _, f := range r.Findings {
		t.Errorf("%v", f)
	}
	if r.Lost > len(r.Rounds)/10 {
		t.Errorf("too many rounds were given up: the cluster does not keep up")
	}
	for texts, n := range r.Texts {
		t.Logf("%d times another text\n\tCassandra:  %s\n\tin process: %s", n, texts[0], texts[1])
	}
	if *record != "" { // the rounds without a difference
		write(t, r, keyspace)
	}
}

func regressions(t *testing.T, p differential.Pair) {
	t.Helper()
	f, err := os.Open("testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := differential.Regressions(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		t.Run(strings.ReplaceAll(strings.Trim(r.Name, "."), " ", "_"), func(t *testing.T) {
			played, difference, lost := p.Play(t.Context(), r.Steps)
			if difference != "" || lost {
				t.Errorf("%v", differential.Finding{Difference: difference, Played: played})
			}
		})
	}
}

// write keeps what Cassandra has answered, for the test that replays it without a cluster.
func write(t *testing.T, r differential.Result, keyspace string) {
	t.Helper()
	recording := transcript.Recording{Definitions: differential.Definitions()}
	for _, played := range r.Rounds {
		var round transcript.Round
		for _, one := range played {
			one.Real.Error = strings.ReplaceAll(one.Real.Error, keyspace, "transcript")
			round = append(round, transcript.Exchange{Step: one.Step, Reply: one.Real})
		}
		recording.Rounds = append(recording.Rounds, round)
	}
	f, err := os.Create(*record)
	if err != nil {
		t.Fatal(err)
	}
	if err := recording.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
