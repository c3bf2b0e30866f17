package main

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

// The whole demo, on the model: each section fails by itself if what it shows is not so.
func TestInProcess(t *testing.T) {
	withoutJaeger(t)
	c, err := findCassandra(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := run(t.Context(), &screen{w: &b}, c); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if err := c.close(t.Context()); err != nil {
		t.Error(err)
	}
	paragraphs := strings.Split(strings.TrimSpace(b.String()), "\n\n")
	const confession = "This is NOT a real Cassandra"
	if !strings.Contains(paragraphs[1], confession) || !strings.Contains(paragraphs[len(paragraphs)-1], confession) {
		t.Errorf("the output does not say at its begin and at its end what it is:\n%s", b.String())
	}
	for _, want := range []string{
		"All 9,000 rows read back", "and 300 are still open", "has one row of the order, under paid", "table orders_by_user does not exist",
		"Sent twice, and the tables have it once", "retry", "All of it held",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, b.String())
		}
	}
}

func withoutJaeger(t *testing.T) {
	t.Helper()
	for _, name := range []string{jaeger.URLEnv, jaeger.OTLPEnv} {
		t.Setenv(name, "")
	}
}

func TestWhereTheClusterComesFrom(t *testing.T) {
	t.Setenv(cluster.TestHostsEnv, "127.0.0.1:1, 127.0.0.2:1")
	c, err := findCassandra(t.Context(), false)
	if err != nil || c.model != nil || c.String() != "127.0.0.1:1,127.0.0.2:1" {
		t.Errorf("with hosts: %v, %v", c, err)
	}

	// No cluster is up, and there is nothing to start one with.
	t.Setenv(cluster.TestHostsEnv, "")
	t.Setenv(cluster.ExternalEnv, "")
	t.Setenv(cluster.ModeEnv, "")
	t.Setenv(cluster.HomeEnv, t.TempDir())
	t.Setenv("PATH", t.TempDir())
	c, err = findCassandra(t.Context(), false)
	if err != nil || c.model == nil || !strings.Contains(c.why, cluster.ErrNothingToRun.Error()) {
		t.Fatalf("with nothing: %v, %v", c, err)
	}
	if err := c.close(t.Context()); err != nil {
		t.Error(err)
	}

	t.Setenv(cluster.ModeEnv, string(cluster.Local)) // asked for, so nothing else will do
	if c, err := findCassandra(t.Context(), false); err == nil {
		t.Errorf("with nothing, though a real one is wanted: %v", c)
	}
}
