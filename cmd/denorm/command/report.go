package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/reconcile"
)

var reportFormats = map[string]func(*cobra.Command, *run, *reconcile.Report) error{"text": writeReport, "json": writeReportJSON}

// mostKinds bounds the lines of findings that are alike.
const mostKinds = 20

// writeReport writes a report for people: without keys, findings that are alike are one line.
func writeReport(c *cobra.Command, r *run, report *reconcile.Report) error {
	var b strings.Builder
	if r.fills {
		fmt.Fprintf(&b, "rows put into %s: %d\n", r.table, report.Put)
	}
	if r.adopts {
		got := "got"
		if r.dryRun {
			got = "would get"
		}
		fmt.Fprintf(&b, "entities that %s a stamp or version: %d; their rows with another time than the base row: %d\n", got, report.Stamped, report.OtherTimes)
	}
	if len(r.copies) > 0 {
		got := "copied"
		if r.dryRun {
			got = "that would be copied"
		}
		fmt.Fprintf(&b, "lists %s: %d; kept, as the column was written later: %d\n", got, report.Copied, report.Kept)
	}
	var found strings.Builder
	kinds, drift, late := make(map[string]int), false, 0
	for f := range report.Findings() {
		drift = drift || f.Outcome != reconcile.Repaired
		if end := r.ended.Add(r.settle); r.fills && (f.BaseTime.After(end) || f.RowTime.After(end)) {
			late++
		}
		if r.keys {
			fmt.Fprintf(&found, "%s\n    %s\n", printable.Line(f.String()), printable.Line(keysOf(f)))
		} else {
			kinds[f.String()]++
		}
	}
	sorted := slices.SortedFunc(maps.Keys(kinds), func(x, y string) int { return cmp.Or(kinds[y]-kinds[x], cmp.Compare(x, y)) })
	for i, kind := range sorted {
		if i == mostKinds {
			fmt.Fprintf(&found, "and %d other kinds of findings\n", len(sorted)-mostKinds)
			break
		}
		fmt.Fprintf(&found, "%6d  %s\n", kinds[kind], printable.Line(kind))
	}
	for line := range strings.Lines(report.String()) {
		if why, failed := strings.CutPrefix(line, "failed: "); !failed || !strings.Contains(found.String(), ": "+why) {
			b.WriteString(line) // what failed is told once
		}
	}
	b.WriteString(found.String())
	if report.Run != (gocql.UUID{}) {
		fmt.Fprintf(&b, "run %s\n", report.Run)
	}
	if late > 0 {
		fmt.Fprintf(&b, "written more than %v after --writers: %d; look for a process that does not write %s\n", r.settle, late, r.table)
	}
	switch denorm := c.Parent().CommandPath(); {
	case report.Unadopted > 0 && report.Err() != nil && !r.adopts:
		fmt.Fprintf(&b, "rows were written without the library: %s adopt %s --writers TIME --dry-run says what adopt would do\n", denorm, r.name)
	case r.adopts && r.dryRun && len(tablerow.UniqueLayouts(r.set.Internal())) > 0:
		b.WriteString("unique keys that two rows have were not looked for: adopt names both rows\n")
	case drift && c.Name() == "verify":
		fmt.Fprintf(&b, "%s repair %s --dry-run says what a repair would send\n", denorm, r.name)
	case drift && r.fills:
		fmt.Fprintf(&b, "leave %s Hidden, and run this again after %s repair %s --tables %s --removed FILE\n", r.table, denorm, r.name, r.table)
	}
	_, err := io.WriteString(c.OutOrStdout(), b.String())
	return err
}

// reportJSON is the JSON output of a run.
type reportJSON struct {
	Command     string         `json:"command"`
	Set         string         `json:"set"`
	Run         string         `json:"run,omitempty"` // if it is stored
	Began       time.Time      `json:"began"`
	Ended       time.Time      `json:"ended"`
	Tables      []tableJSON    `json:"tables"`
	NotCompared []string       `json:"notCompared,omitempty"`
	Findings    []rowJSON      `json:"findings"`
	Counts      map[string]int `json:"counts"`               // of findings, by outcome
	Put         *int           `json:"put,omitempty"`        // rows, by backfill
	Stamped     *int           `json:"stamped,omitempty"`    // entities, by adopt
	Unadopted   int            `json:"unadopted,omitempty"`  // base rows without a stamp or version
	Others      *int           `json:"otherTimes,omitempty"` // rows of these with another time than the base row
	Copied      *int           `json:"copied,omitempty"`     // lists, by adopt --copy
	Kept        *int           `json:"kept,omitempty"`       // lists that were not copied, as the column was written later
	InFlight    int            `json:"inFlight"`
	Uncovered   int            `json:"uncovered"`
	Error       string         `json:"error,omitempty"`
}

type tableJSON struct {
	Table  string         `json:"table"`
	Rows   int            `json:"rows"`
	Found  map[string]int `json:"found"`
	Unheld int            `json:"unheldClaims,omitempty"`
	Ending int            `json:"endByTTL,omitempty"`       // rows
	Units  map[string]int `json:"writeTimesIn,omitempty"`   // rows, by unit
	Nulls  map[string]int `json:"nullsInColumns,omitempty"` // rows, by column
}

type rowJSON struct {
	Class     string    `json:"class"`
	Certainty string    `json:"certainty"`
	Table     string    `json:"table"`
	Column    string    `json:"column,omitempty"`
	BaseTime  time.Time `json:"baseTime,omitzero"`
	RowTime   time.Time `json:"rowTime,omitzero"`
	FirstSeen time.Time `json:"firstSeen"`
	Outcome   string    `json:"outcome"`
	Reason    string    `json:"reason,omitempty"`
	Key       string    `json:"key,omitempty"`
	Entity    string    `json:"entity,omitempty"` // key of the base row
	Other     string    `json:"other,omitempty"`  // that of the other entity that has the key
}

// keysOf are the keys of a finding: that of the row, and for a unique key those of the base rows that have it.
func keysOf(f reconcile.Finding) string {
	key := f.Key()
	if f.Class == reconcile.Unclaimed || f.Class == reconcile.Shared {
		key += ", of " + f.Entity()
	}
	if other := f.Other(); other != "" {
		key += " and " + other
	}
	return key
}

func writeReportJSON(c *cobra.Command, r *run, report *reconcile.Report) error {
	out := reportJSON{
		Command: c.Name(), Set: r.name, Began: inJSON(report.Began), Ended: inJSON(report.Ended), Tables: []tableJSON{}, Findings: []rowJSON{},
		Counts: map[string]int{}, InFlight: report.InFlight, Uncovered: report.Uncovered, Unadopted: report.Unadopted,
	}
	if r.fills {
		out.Put = &report.Put
	}
	if r.adopts {
		out.Stamped, out.Others = &report.Stamped, &report.OtherTimes
	}
	if len(r.copies) > 0 {
		out.Copied, out.Kept = &report.Copied, &report.Kept
	}
	if report.Run != (gocql.UUID{}) {
		out.Run = report.Run.String()
	}
	if err := report.Err(); err != nil {
		out.Error = err.Error()
	}
	for _, t := range report.Tables {
		found := make(map[string]int)
		for class, n := range t.Found {
			if n > 0 {
				found[class.String()] = n
			}
		}
		out.Tables = append(out.Tables, tableJSON{t.Table, t.Rows, found, t.Unheld, t.Ending, t.Units, t.Nulls})
	}
	out.NotCompared = report.NotCompared
	for f := range report.Findings() {
		row := rowJSON{
			Class: f.Class.String(), Certainty: f.Certainty.String(), Table: f.Table, Column: f.Column, BaseTime: inJSON(f.BaseTime), RowTime: inJSON(f.RowTime),
			FirstSeen: inJSON(f.FirstSeen), Outcome: f.Outcome.String(), Reason: f.Reason,
		}
		if r.keys {
			row.Key, row.Entity, row.Other = f.Key(), f.Entity(), f.Other()
		}
		out.Counts[row.Outcome]++
		out.Findings = append(out.Findings, row)
	}
	return writeIndented(c.OutOrStdout(), out)
}

// removedRows is a new file of rows that are removed.
type removedRows struct{ file *os.File }

// newRemovedRows creates the file, for its owner alone. One that is there already is not written to: it may have the
// rows of another run.
func newRemovedRows(name string) (*removedRows, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600) //nolint:gosec // the user names it
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("--removed: %s exists, and may have the rows of another run: name a new file", name)
	}
	if err != nil {
		return nil, fmt.Errorf("--removed: %w", err)
	}
	return &removedRows{file}, nil
}

// add writes a row, and returns when it is on disk. It is safe for concurrent use, as each row is one write to the end
// of the file.
func (r *removedRows) add(removed reconcile.Removal) error {
	line, err := json.Marshal(struct {
		Class  string            `json:"class"`
		Table  string            `json:"table"`
		Values map[string]string `json:"values"`
	}{removed.Class.String(), removed.Table, removed.Values})
	if err != nil {
		return err
	}
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return r.file.Sync()
}

// close closes the file, and deletes it if nothing was removed.
func (r *removedRows) close() {
	if info, err := r.file.Stat(); err == nil && info.Size() == 0 {
		_ = os.Remove(r.file.Name())
	}
	_ = r.file.Close()
}
