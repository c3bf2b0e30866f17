package tablerow

import (
	"encoding/binary"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// Survey counts rows of a table in which something is not as the set declares it. The zero value has counted none.
type Survey struct {
	Rows int `json:"rows"`
	// Ending are rows that end by a TTL, though nothing in them says when: the next change would keep them forever.
	Ending int `json:"endByTTL,omitempty"`
	// Partly are those of Ending of which other columns stay: no expiry is that of the row.
	Partly int `json:"endPartly,omitempty"`
	// Units are rows whose write times are not in microseconds, by [Unit].
	Units map[string]int `json:"writeTimesIn,omitempty"`
	// Nulls are rows in which a column is null that is read as another value, by column.
	Nulls map[string]int `json:"nulls,omitempty"`
	// Stuck are rows with null in a column without which no change of a row is valid, by column.
	Stuck map[string]int `json:"stuck,omitempty"`
}

// Add adds what another survey of the table has counted.
func (s *Survey) Add(other *Survey) {
	s.Rows += other.Rows
	s.Ending += other.Ending
	s.Partly += other.Partly
	AddCounts(&s.Units, other.Units)
	AddCounts(&s.Nulls, other.Nulls)
	AddCounts(&s.Stuck, other.Stuck)
}

// AddCounts adds counts by name to a map, which is made when there are any.
func AddCounts(to *map[string]int, counts map[string]int) {
	if *to == nil && len(counts) > 0 {
		*to = make(map[string]int)
	}
	for name, n := range counts {
		(*to)[name] += n
	}
}

// Surveyor reads the times of rows of a table, which were selected as [Selected] says, and surveys them.
type Surveyor struct {
	// Default is the default_time_to_live of the table.
	Default time.Duration
	columns int            // of the table
	timed   int            // of these
	silent  bool           // what ends in the table is not its own matter
	never   bool           // nothing may end in it, as the set has conditions
	added   []bool         // which of the timed ones are stamp and expiry
	expiry  int            // position of the column of ExpiresAt, or -1
	part    int            // columns of the partition key, which come first
	key     int            // of the primary key
	tells   []int          // of the base table of a set with Versioned: a row that is not deleted has one of these columns
	nulls   map[int]string // columns of which null is read as another value, by position
	stuck   map[int]string // columns in which null makes each change of the row invalid
}

// Selected is what a statement selects to read rows of the table with their times: its columns, then WRITETIME, then
// TTL of each that is [Timed].
func Selected(l Layout) []string {
	out := l.AllColumns()
	for _, of := range []string{"WRITETIME(", "TTL("} {
		for _, name := range Timed(l) {
			out = append(out, of+name+")")
		}
	}
	return out
}

// NewSurveyor makes the surveyor of a table. Nulls are counted in a base table alone.
func NewSurveyor(l Layout) *Surveyor {
	timed := Timed(l)
	added := func(name string) bool { return name == StampColumn(l) || name == ExpiryColumn(l) }
	s := &Surveyor{
		columns: len(l.Table.Read), timed: len(timed), added: each.Of(timed, added), expiry: -1,
		silent: l.Unique(), never: l.Set.Conditional(),
		part: l.Table.Part, key: len(l.Table.Key),
		tells: each.Of(l.Tells(), func(name string) int { return slices.Index(l.AllColumns(), name) }),
	}
	if l.Set.Expiry >= 0 {
		s.expiry = slices.Index(l.Table.Read, l.Set.Expiry)
		s.silent = s.silent || s.expiry < 0
	}
	if l.Table != l.Set.Tables[0] {
		return s
	}
	s.nulls, s.stuck = make(map[int]string), make(map[int]string)
	for n := len(l.Table.Key); n < len(l.Table.Read); n++ {
		switch i := l.Table.Read[n]; {
		case stuck(l.Set, i):
			s.stuck[n] = l.Set.Columns[i].Name
		case filled(l.Set, i):
			s.nulls[n] = l.Set.Columns[i].Name
		}
	}
	return s
}

// filled says whether null in a column is read as a value that the next write does not write as null.
func filled(s *layout.Set, i int) bool {
	c := &s.Columns[i]
	if c.Index == nil || i == s.Stamp || i == s.Version || i == s.Mark {
		return false
	}
	v, _ := s.Encode(reflect.New(s.Go).Elem(), i)
	return v.Data != nil
}

// stuck says whether no change of a row with null in a column is valid: what null is read as cannot be in a key.
func stuck(s *layout.Set, i int) bool {
	c := &s.Columns[i]
	if c.Index == nil || c.Go.Kind() == reflect.Pointer || c.Marshals {
		return false
	}
	v, err := s.Encode(reflect.New(s.Go).Elem(), i)
	source := func(d int) bool { return slices.Contains(s.Columns[d].Derived.Sources, i) }
	return c.Key && err != nil || c.Rule == layout.ClosedDomain && !entity.InDomain(c, &v) ||
		v.Data == nil && slices.ContainsFunc(s.Derived, source)
}

// Alike is what to do about rows of which some columns end, and others do not.
const Alike = "write their columns alike, all with a TTL or none"

// Keep says how the ends of rows of the table are kept when they change: a statement, if one is needed, and what
// comes after it.
func Keep(l Layout, qualified string) (fix, advice string) {
	const column = "expires_at"
	named := l.Column(column)
	switch {
	case l.Set.Conditional():
		return "", "write them without TTL, or delete them: the set has conditions"
	case l.Set.Expiry >= 0:
		return "", "adopt the set, which fills " + l.Set.NameOf(l.Set.Expiry)
	case named == nil:
		fix = "ALTER TABLE " + qualified + " ADD " + column + " timestamp"
	}
	return fix, `declare tables.ExpiresAt("` + column + `")`
}

// Row says whether what was read is the row of an entity. It is none if it has static columns alone, as its
// clustering columns are null then, or remembers that the entity was deleted.
func (s *Surveyor) Row(cells [][]byte) bool {
	if s.key > s.part && !slices.ContainsFunc(cells[s.part:s.key], func(data []byte) bool { return data != nil }) {
		return false
	}
	return len(s.tells) == 0 || slices.ContainsFunc(s.tells, func(i int) bool { return cells[i] != nil })
}

// Cell says when a column of a row was written and when it ends, and is zero if it is null. It takes the position in
// [Timed].
func (s *Surveyor) Cell(cells [][]byte, i int, now time.Time) (w statement.Written) {
	if c := cells[s.columns+i]; len(c) == 8 {
		w.At = int64(binary.BigEndian.Uint64(c))
	}
	if c := cells[s.columns+s.timed+i]; len(c) == 4 {
		w.Ends = 1000 * (now.Unix() + int64(binary.BigEndian.Uint32(c)))
	}
	return w
}

// defaultSlack is how far an end by default_time_to_live may be from what the write time says: clocks differ.
const defaultSlack = 10 * time.Minute

// own says whether a cell ends other than by default_time_to_live. A change gives the row the whole default again. So
// one that ends later than its write time says is told only while more than the default is left.
func (s *Surveyor) own(w statement.Written, now time.Time) bool {
	if w.Ends == 0 || s.Default == 0 {
		return w.Ends != 0
	}
	written := time.UnixMicro(Micros(w.At))
	ends := time.UnixMilli(w.Ends)
	return ends.Before(written.Add(s.Default-defaultSlack)) || ends.After(now.Add(s.Default+defaultSlack))
}

// Again is when a value ends that is written again at a time. By default_time_to_live the time starts again, as at each
// write.
func (s *Surveyor) Again(w statement.Written, at int64, now time.Time) int64 {
	if w.Ends == 0 || s.own(w, now) {
		return w.Ends
	}
	return max(w.Ends, at/1e6*1000+s.Default.Milliseconds())
}

// End is when the first column of a row ends other than by default_time_to_live, in milliseconds; 0 if none does. It
// is partly if others stay. Stamp and expiry do not count, as an adoption may have written them alone.
func (s *Surveyor) End(cells [][]byte, now time.Time) (first int64, partly bool) {
	stays := false
	for i := range s.timed {
		w := s.Cell(cells, i, now)
		switch {
		case s.added[i] || w.At == 0:
		case !s.own(w, now):
			stays = true
		case first == 0 || w.Ends < first:
			first = w.Ends
		}
	}
	return first, stays && first != 0
}

// Count surveys a row.
func (s *Surveyor) Count(to *Survey, cells [][]byte, now time.Time) {
	to.Rows++
	if !s.silent && (s.expiry < 0 || cells[s.expiry] == nil) {
		end, partly := s.End(cells, now)
		if end != 0 {
			to.Ending++
		}
		if partly && !s.never {
			to.Partly++
		}
	}
	var last int64
	for i := range s.timed {
		last = max(last, s.Cell(cells, i, now).At)
	}
	if unit := Unit(last); unit != "" {
		AddCounts(&to.Units, map[string]int{unit: 1})
	}
	for n, name := range s.nulls {
		if cells[n] == nil {
			AddCounts(&to.Nulls, map[string]int{name: 1})
		}
	}
	for n, name := range s.stuck {
		if cells[n] == nil {
			AddCounts(&to.Stuck, map[string]int{name: 1})
		}
	}
}

// Nanoseconds is a [Unit] above all times in microseconds.
const Nanoseconds = "nanoseconds"

// units are the ranges of write times in other units than microseconds. They begin with 1998, and no clock that is
// right gives one in microseconds.
var units = []struct {
	name          string
	least, most   int64
	times, divide int64 // to microseconds
}{
	{"seconds", 9e8, 1e10, 1e6, 1},
	{"milliseconds", 9e11, 1e13, 1e3, 1},
	{Nanoseconds, 9e17, 5e18, 1, 1e3},
}

// Unit is the unit of a write time that is not in microseconds, and empty of others.
func Unit(at int64) string {
	for _, u := range units {
		if at >= u.least && at < u.most {
			return u.name
		}
	}
	return ""
}

// Micros is a write time in microseconds, whatever its [Unit].
func Micros(at int64) int64 {
	for _, u := range units {
		if at >= u.least && at < u.most {
			return at / u.divide * u.times
		}
	}
	return at
}
