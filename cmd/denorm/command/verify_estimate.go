package command

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/denorm-go/denorm/reconcile"
)

// onlyEstimate rejects flags that have no effect on an estimate.
func onlyEstimate(c *cobra.Command) (err error) {
	used := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(access).flags(used)
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && used.Lookup(f.Name) == nil &&
			!slices.Contains([]string{"estimate", "hosts", "keyspace", "map", "local-dc", "format", "tables", "page-size", "rate"}, f.Name) {
			err = fmt.Errorf("--%s has no effect with --estimate, which reads no rows: leave out one of them", f.Name)
		}
	})
	return err
}

// estimate says how much there is to read.
func (r *run) estimate(c *cobra.Command, args []string) error {
	if err := onlyEstimate(c); err != nil {
		return err
	}
	if err := r.check(c, args); err != nil {
		return err
	}
	s, err := r.connect()
	if err != nil {
		return err
	}
	defer s.Close()
	on, err := reconcile.New(s, r.options()...)
	if err != nil {
		return err
	}
	e, err := on.Estimate(c.Context(), r.set)
	if err != nil {
		return err
	}
	return r.writeEstimate(c.OutOrStdout(), e)
}

// writeEstimate writes an estimate in the format that is wanted.
func (r *run) writeEstimate(out io.Writer, e reconcile.Estimate) error {
	if r.format == "json" {
		return writeIndented(out, r.estimateJSON(e))
	}
	var b strings.Builder
	for _, t := range e.Tables {
		size := "size not known"
		if t.Bytes > 0 {
			size = mebibytes(t.Bytes)
		}
		fmt.Fprintf(&b, "%-30s about %s rows, %s\n", t.Table, grouped(int(t.Rows)), size)
	}
	fmt.Fprintf(&b, "verify or repair:              %s requests%s", grouped(int(e.Requests)), r.lasting(e.Requests))
	if e.Spool > 0 {
		fmt.Fprintf(&b, ", a temporary file of %s", mebibytes(e.Spool))
	}
	fmt.Fprintf(&b, "\nbackfill of one query table:   %s requests%s, and then verify\n", grouped(int(e.Puts)), r.lasting(e.Puts))
	_, err := io.WriteString(out, b.String())
	return err
}

// lasting says how long requests take with --rate.
func (r *run) lasting(requests int64) string {
	if r.rate == 0 {
		return ""
	}
	return fmt.Sprintf(", %v with %s a second", time.Duration(r.seconds(requests))*time.Second, grouped(r.rate))
}

func (r *run) seconds(requests int64) int64 {
	return int64(math.Ceil(float64(requests) / float64(r.rate)))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// estimateJSON is the JSON output of verify --estimate.
type estimateJSON struct {
	Set      string              `json:"set"`
	Tables   []estimateTableJSON `json:"tables"`
	Requests int64               `json:"requests"` // of verify or repair
	Puts     int64               `json:"puts"`     // requests of backfill, before it verifies
	Spool    int64               `json:"spool"`
	Seconds  *int64              `json:"seconds,omitempty"`     // of requests, with --rate
	Putting  *int64              `json:"putsSeconds,omitempty"` // of puts, with --rate
}

type estimateTableJSON struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Bytes *int64 `json:"bytes"` // null: not known
}

func (r *run) estimateJSON(e reconcile.Estimate) estimateJSON {
	out := estimateJSON{Set: r.name, Tables: []estimateTableJSON{}, Requests: e.Requests, Puts: e.Puts, Spool: e.Spool}
	if r.rate > 0 {
		requests, puts := r.seconds(out.Requests), r.seconds(out.Puts)
		out.Seconds, out.Putting = &requests, &puts
	}
	for _, t := range e.Tables {
		table := estimateTableJSON{Table: t.Table, Rows: t.Rows}
		if t.Bytes > 0 {
			table.Bytes = &t.Bytes
		}
		out.Tables = append(out.Tables, table)
	}
	return out
}
