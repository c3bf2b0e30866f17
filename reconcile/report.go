package reconcile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/printable"
)

// Errors of a [Report].
var (
	// ErrDrift says that tables disagree and were not repaired.
	ErrDrift = errors.New("denorm: reconcile: tables disagree")
	// ErrIncomplete says that some rows were not read: nothing is known of them. Its text has the cause and what to do.
	// It names the table and the token range that could not be read, even in smaller pages and ranges.
	ErrIncomplete = errors.New("denorm: reconcile: not all rows were compared")
	// ErrTooMuch says that a repair ended because it would have removed more rows, or put more into the base table, than
	// [MaxRemovals] allows. Or nearly no row of a query table is under the key that its base row has: see MaxRemovals.
	ErrTooMuch = errors.New("denorm: reconcile: more rows would be removed or put back than MaxRemovals allows")
)

// Report is what a call found. It is complete when the call has returned. After a [Resume], Stamped, OtherTimes,
// Unadopted, Copied, Kept and, in [TableReport], Unheld, Units and Nulls count the last process only.
type Report struct {
	Entity       string
	Run          gocql.UUID // zero without [State]
	Began, Ended time.Time
	// Tables are the tables that were compared, the base table first.
	Tables []TableReport
	// NotCompared are the tables of the set that were not compared, by physical name with keyspace: nothing is known of
	// them. [Entity] adds ", under other keys" to a table that may have more rows of the entity where it has not looked.
	NotCompared []string
	// InFlight counts entities whose tables differed at first and later agreed or changed: writes in flight explain them.
	InFlight int
	// Put counts the rows that [Reconciler.Backfill] has put into its table.
	Put int
	// Stamped counts the entities that [Reconciler.Adopt] has given a stamp or a version. OtherTimes counts the rows of
	// their query tables that had another time than the base row: this is not a difference.
	Stamped, OtherTimes int
	// Unadopted counts the base rows without a stamp or version, which were written without the library: see
	// [Reconciler.Adopt]. In a set with Versioned they were not compared, and Err matches [ErrIncomplete].
	Unadopted int
	// Copied counts the lists that [Copy] has put into another column, or with [DryRun] would put. Kept counts lists that
	// it has not put there, because that column was written later, with another value or with null.
	Copied, Kept int
	// Uncovered counts what could not be read or looked at again: token ranges, entities that differed, and rows that
	// writers cannot change. Err says why.
	Uncovered int

	mu       sync.Mutex
	findings []Finding
	places   map[spot]int // of findings: where they are
	omitted  int          // findings beyond maxFindings
	stopped  error
	failures []failure
}

// otherKeys follows a table in [Report.NotCompared] that was compared under some keys.
const otherKeys = ", under other keys"

// failure is an error because of which something was not compared.
type failure struct {
	error
	ranges []string // of the ring, that were not read
	more   int      // ranges
}

// Of a report's error: so many causes, each with so many ranges.
const (
	mostCauses = 3
	mostRanges = 10
)

func (f failure) Error() string {
	out := f.error.Error()
	if len(f.ranges) == 0 {
		return out
	}
	out += ": not read are " + strings.Join(f.ranges, "; ")
	if f.more > 0 {
		out += fmt.Sprintf("; and %d more ranges", f.more)
	}
	return out + ": " + advice(f.error)
}

func (f failure) Unwrap() error { return f.error }

// TableReport is what was found in one table.
type TableReport struct {
	Table string // physical, with its keyspace
	Rows  int    // read
	Found map[Class]int
	// Unheld counts, in a table with Unique, claims of entities whose base rows do not have the key. They are not a
	// difference: writes whose client has died leave them, and the next entity that wants such a key takes it.
	Unheld int
	// Ending counts rows that end by a TTL other than default_time_to_live, while no column of [tables.ExpiresAt]
	// says when. A change keeps such a row forever: in a set without ExpiresAt the error of the report matches
	// [ErrUnsafe]. The TTL of sets and maps that are not frozen, and of rows with a key alone, cannot be read, and is
	// not counted.
	Ending int
	// Units counts rows whose write times are in "seconds", "milliseconds" or "nanoseconds". They do not say which of
	// two rows is newer.
	Units map[string]int
	// Nulls counts rows of the base table in which a column is null and its field is not a pointer, by column.
	// [Reconciler.Adopt] has read them with another value, which the next update writes.
	Nulls map[string]int

	keep   string         // how the ends of rows are kept, in a set without ExpiresAt
	partly int            // rows of Ending of which other columns stay
	stuck  map[string]int // rows of which no change is valid, by the column that is null
}

// maxFindings bounds the findings that a report keeps; all are counted.
const maxFindings = 100_000

// Findings returns the first 100,000 rows that disagree; [TableReport] counts all.
func (r *Report) Findings() iter.Seq[Finding] { return slices.Values(r.findings) }

// Err is nil if all rows were read and agree now. It matches [ErrDrift] if rows disagree and were not repaired, and
// [ErrIncomplete] if rows could not be read. It matches [ErrUnsafe] if rows are not safe to change, and [ErrTooMuch] if
// a repair ended because of [MaxRemovals]. It matches [ErrStopped] or [ErrRunning] if a stored run ended early.
func (r *Report) Err() error {
	var errs []error
	if r.stopped != nil {
		errs = append(errs, r.stopped)
	}
	if r.Uncovered > 0 {
		causes := each.Of(r.failures, func(f failure) error { return f })
		errs = append(errs, fmt.Errorf("%w: ranges of the ring or entities: %d: %w", ErrIncomplete, r.Uncovered, errors.Join(causes...)))
	}
	left := r.omitted
	for _, f := range r.findings {
		if f.Outcome != Repaired {
			left++
		}
	}
	if left > 0 {
		errs = append(errs, fmt.Errorf("%w: %d %s", ErrDrift, left, plural(left, "finding")))
	}
	return errors.Join(append(errs, r.unsafe()...)...)
}

// String returns the report as a table, without keys, and up to three reasons why repairs failed. If something is
// missing in it, Err says why.
func (r *Report) String() string {
	var b strings.Builder
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "%-30s %9d rows", t.Table, t.Rows)
		agree := true
		for class := Missing; class <= Shared; class++ {
			if n := t.Found[class]; n > 0 {
				fmt.Fprintf(&b, "   %s %d", class, n)
				agree = false
			}
		}
		switch complete := r.Uncovered == 0 && r.stopped == nil && !slices.Contains(r.NotCompared, t.Table+otherKeys); {
		case agree && complete:
			b.WriteString("   agrees")
		case agree:
			b.WriteString("   nothing found in what was compared")
		}
		if notes := t.notes(); len(notes) > 0 {
			b.WriteString(" (" + strings.Join(notes, "; ") + ")")
		}
		b.WriteByte('\n')
	}
	for _, err := range r.unsafe() {
		fmt.Fprintf(&b, "%v\n", err)
	}
	for _, name := range r.NotCompared {
		fmt.Fprintf(&b, "%-47s not compared\n", name)
	}
	outcomes, failed := make(map[Outcome]int), []string(nil)
	for _, f := range r.findings {
		outcomes[f.Outcome]++
		if f.Outcome == Failed && len(failed) < mostCauses && !slices.Contains(failed, f.Reason) {
			failed = append(failed, f.Reason)
		}
	}
	fmt.Fprintf(&b, "%d %s", len(r.findings)+r.omitted, plural(len(r.findings)+r.omitted, "finding"))
	for o := Repaired; o <= Failed; o++ {
		if outcomes[o] > 0 {
			fmt.Fprintf(&b, ", %d %s", outcomes[o], o)
		}
	}
	fmt.Fprintf(&b, "; %d %s explained by writes in flight; in %s\n", r.InFlight, plural(r.InFlight, "difference"), r.Ended.Sub(r.Began).Round(time.Millisecond))
	for _, reason := range failed {
		fmt.Fprintf(&b, "failed: %s\n", printable.Line(reason)) // it may have a text of a node
	}
	if r.Unadopted > 0 {
		fmt.Fprintf(&b, "base rows without a stamp or version: %d; adopt gives them one\n", r.Unadopted)
	}
	if r.Uncovered > 0 {
		fmt.Fprintf(&b, "ranges of the ring, or entities, that were not compared: %d; nothing is known of them\n", r.Uncovered)
	}
	if r.stopped != nil {
		b.WriteString("the run stopped before it was done\n")
	}
	return b.String()
}

// Format prints [Report.String] for every format of fmt.
func (r *Report) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

func (r *Report) table(name string) *TableReport {
	for i := range r.Tables {
		if r.Tables[i].Table == name {
			return &r.Tables[i]
		}
	}
	r.Tables = append(r.Tables, TableReport{Table: name, Found: make(map[Class]int)})
	return &r.Tables[len(r.Tables)-1]
}

func (r *Report) add(found []Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		at := f.spot()
		if i, known := r.places[at]; known {
			r.table(f.Table).Found[r.findings[i].Class]--
			r.table(f.Table).Found[f.Class]++
			r.findings[i] = f
			continue
		}
		r.table(f.Table).Found[f.Class]++
		if len(r.findings) == maxFindings {
			if f.Outcome != Repaired {
				r.omitted++
			}
			continue
		}
		if r.places == nil {
			r.places = make(map[spot]int)
		}
		r.places[at] = len(r.findings)
		r.findings = append(r.findings, f)
	}
}

// drop takes a finding out.
func (r *Report) drop(at spot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, known := r.places[at]
	if !known {
		return
	}
	r.table(r.findings[i].Table).Found[r.findings[i].Class]--
	last := len(r.findings) - 1
	r.findings[i] = r.findings[last]
	r.places[r.findings[i].spot()] = i
	r.findings = r.findings[:last]
	delete(r.places, at)
}

// share makes findings of one unique key, which two base rows have and nobody has claimed, Shared.
func (r *Report) share() {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := make(map[place]int)
	for i := range r.findings {
		f := &r.findings[i]
		if f.Class != Unclaimed {
			continue
		}
		n, known := first[f.spot().place]
		if !known {
			first[f.spot().place] = i
			continue
		}
		for _, pair := range [][2]int{{i, n}, {n, i}} {
			f, of := &r.findings[pair[0]], &r.findings[pair[1]]
			r.table(f.Table).Found[f.Class]--
			r.table(f.Table).Found[Shared]++
			f.Class, f.Outcome, f.Reason, f.other = Shared, Found, heldByTwo, of.entity
		}
	}
}

func (r *Report) uncovered(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.fails(err)
}

// unread notes a range of the ring that could not be read.
func (r *Report) unread(t *table, in segment, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.fails(err)
	switch {
	case f == nil:
	case len(f.ranges) < mostRanges:
		f.ranges = append(f.ranges, fmt.Sprintf("%s, tokens above %d up to %d", t.qualified(), in.low, in.high))
	default:
		f.more++
	}
}

// fails counts something that was not compared. It gives what is noted of the cause, nil if there are too many.
func (r *Report) fails(err error) *failure {
	r.Uncovered++
	i := slices.IndexFunc(r.failures, func(f failure) bool { return f.error.Error() == err.Error() })
	switch {
	case i >= 0:
	case len(r.failures) == mostCauses:
		return nil
	default:
		i = len(r.failures)
		r.failures = append(r.failures, failure{error: err})
	}
	return &r.failures[i]
}

// unsettled notes entities that differed when the run ended early, and were not looked at again.
func (r *Report) unsettled(entities int) {
	for range entities {
		r.uncovered(errUnsettled)
	}
}

var errUnsettled = errors.New("the run ended before entities that differed were looked at again")

func (r *Report) unheld(t *table) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.table(t.qualified()).Unheld++
}

// count adds to one of the report's counters.
func (r *Report) count(to *int, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*to += n
}

// Removal is a row that is about to be removed.
type Removal struct {
	Class  Class
	Table  string            // physical, with its keyspace
	Values map[string]string // by column, as CQL text that an INSERT takes; null columns are left out
}

// Progress says how far a call has got.
type Progress struct {
	Done     float64 // fraction of the ring, over all tables, or of the one entity: 0 to 1
	Rows     int     // rows that were read, and compared or put
	Findings int
	Waiting  int // entities to be read again
	InFlight int // requests that may be in flight
	// Waits says why nothing is read at the moment, if so: a pause, rows to be read again later, or [Settle] after
	// [Writers].
	Waits string
}
