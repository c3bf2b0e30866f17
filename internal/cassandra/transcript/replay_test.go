package transcript_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// recorded is what three nodes of Cassandra 5.0.9 have answered. It is made by the differential test, with -record.
const recorded = "testdata/cassandra-5.0.9.json.gz"

// The in-process Cassandra answers as the real one did.
func TestReplay(t *testing.T) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	recording, err := transcript.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	statements := 0
	for _, round := range recording.Rounds {
		statements += len(round)
	}
	if statements < 5_000 {
		t.Fatalf("the recording has only %d statements", statements)
	}
	synctest.Test(t, func(t *testing.T) { // so that waiting for the end of what expires takes no time
		t.Cleanup(func() { <-time.After(5 * time.Minute) }) // until the driver has let go of everything
		start := time.Now()
		n := replay(t, recording)
		t.Logf("%d of %d statements in %v of virtual time", n, statements, time.Since(start))
	})
}

// replay carries a recording out up to the first difference.
func replay(t *testing.T, recording transcript.Recording) (n int) {
	t.Helper()
	server := cassandratest.Start(t, 3)
	const keyspace = "transcript"
	server.Create("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	config := server.Config()
	transcript.Configure(config)
	config.Keyspace = keyspace
	session, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, definition := range recording.Definitions {
		if err := session.Query(definition).Exec(); err != nil {
			t.Fatalf("%s: %v", definition, err)
		}
	}
	for i, round := range recording.Rounds {
		for _, e := range round {
			n++
			got := transcript.Run(t.Context(), session, e.Step)
			if difference := transcript.Difference(e.Reply, got); difference != "" {
				t.Errorf("round %d, statement %d: %s\n\t%v\n\tCassandra:  %v\n\tin process: %v", i, n, difference, e.Step, e.Reply,
					got)
				return n
			}
		}
	}
	return n
}
