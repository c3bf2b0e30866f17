package command

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/reconcile"
)

// What nobody reports is not known, which is another answer than 0.
func TestEstimateOfWhatNobodyReports(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		estimate := func(args ...string) (out, errs string, code int) {
			return x.runOn(t.Context(), io.Discard, append(args, "verify", "order", "--estimate", "--hosts", x.host, "--keyspace", "shop")...)
		}
		for _, format := range []string{"text", "json"} {
			out, errs, code := estimate("--format", format)
			if code != ExitError || out != "" || !strings.Contains(errs, "the size is not known") || !strings.Contains(errs, "shop.orders_by_id") {
				t.Errorf("%s: exit code %d: %s%s", format, code, out, errs)
			}
		}
		for flag, says := range map[string]string{
			"--tables=orders_by_city": "has no table orders_by_city", "--rate=-1": "--rate -1 is not positive", "--format=xml": "unknown --format",
			"--settle=1s": "--settle has no effect with --estimate", "--method=lookup": "--method has no effect", "--keys=true": "--keys has no effect",
			"--state=shop": "--state has no effect",
		} {
			if out, errs, code := estimate(flag); code != ExitError || !strings.Contains(errs, says) {
				t.Errorf("%s: exit code %d: %s%s", flag, code, out, errs)
			}
		}
	})
}

func TestEstimateFormats(t *testing.T) {
	t.Parallel()
	e := reconcile.Estimate{Entity: "order", Requests: 2512, Puts: 1_001_256, Spool: 240_000_000, Tables: []reconcile.TableEstimate{
		{Table: "shop.orders_by_id", Rows: 1_000_000, Bytes: 98 << 20},
		{Table: "shop.orders_by_status", Rows: 1_000_000},
	}}
	small := e
	small.Spool = 0
	for name, c := range map[string]struct {
		run run
		of  reconcile.Estimate
	}{
		"estimate.text": {run{format: "text"}, small}, "estimate_rate.text": {run{format: "text", rate: 300}, e},
		"estimate.json": {run{format: "json", name: "order"}, small}, "estimate_rate.json": {run{format: "json", name: "order", rate: 300}, e},
	} {
		var out bytes.Buffer
		if err := c.run.writeEstimate(&out, c.of); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "reconcile/"+name, out.String())
	}
}
