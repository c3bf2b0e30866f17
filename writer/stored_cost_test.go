package writer

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// forgedCondition is a condition as package entity stores it.
type forgedCondition struct {
	Entity                          string
	Kind                            tables.Kind
	Versioned, Local, Transactional bool
	Before, Version                 gocql.UUID
	VersionColumn, Mark             string
	Keys                            []byte
	Keyspace, Table                 string
	Key, Part                       int
	Columns, Compared               []forgedCell
	Claims, Releases                []forgedClaim
}

type forgedClaim struct {
	Keyspace, Table string
	Part            int
	Columns         []forgedCell
}

type forgedCell struct {
	forgedColumn
	Edit uint8
}

func cell(name string, state uint8, typ string, data []byte) forgedCell {
	return forgedCell{forgedColumn{name, state, typ, data}, 0}
}

func number(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// compared is the n-th condition of a set with Compare, with so many columns.
func compared(n, columns int) []byte {
	c := forgedCondition{
		Entity: "e", Kind: tables.Update, Keyspace: "shop", Table: "t", Key: 2, Part: 1,
		Columns: []forgedCell{cell("a", wireHas, "int", number(1)), cell("b", wireHas, "int", number(n))},
	}
	for i := len(c.Columns); i < columns; i++ {
		c.Columns = append(c.Columns, cell(fmt.Sprintf("c%x", i), wireIsNull, "int", nil))
	}
	c.Compared = c.Columns[columns-1:]
	return wire.Append(nil, c)
}

// signUp is the n-th insert of a Transactional set, with a claim.
func signUp(at int64, n int) []byte {
	email := cell("email", wireHas, "int", number(n))
	return wire.Append(nil, forgedCondition{
		Entity: "e", Kind: tables.Insert, Versioned: true, Transactional: true, Version: decide.Version(at, uint64(n)), VersionColumn: "version",
		Keyspace: "shop", Table: fmt.Sprintf("t%d", n), Key: 1, Part: 1, Columns: []forgedCell{cell("id", wireHas, "int", number(n)), email},
		Claims: []forgedClaim{{"shop", "emails", 1, []forgedCell{email}}},
	})
}

const wireIsNull, wireHas = 1, 2 // the states of a column

// perByte is the most that decoding allocates for each byte: 60 times the text of types, and less of the rest.
const perByte = 100

// The columns of conditions count like those of mutations, over all parts of an error: 2.4 million would keep 600 MiB.
func TestColumnsOfStoredConditionsAreBounded(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const columns = 10_000
	for conditions, refused := range map[int]bool{50: false, 100: true} { // the column that is compared counts too
		w := wireError{Op: "x", Timestamp: 1, Mode: Conditional}
		for n := range conditions {
			w.Decision.Conditions = append(w.Decision.Conditions, compared(n, columns))
		}
		data := sealed(w)
		var err error
		cost.Bound(t, len(data), perByte, func() { err = new(Error).UnmarshalBinary(data) })
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "too many elements") {
			t.Errorf("%d conditions of %d columns: %v", conditions, columns, err)
		}
	}
}

// What others have stored does nothing to a terminal, or to a log of lines, wherever it is in an error.
func TestStoredConditionsArePrintable(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b]0;pwned\x07\n2026-11-27 INFO all is well"
	at := time.Now().UnixMicro()
	transactional := func(entity, typ string) wireDecision {
		return wireDecision{Conditions: [][]byte{wire.Append(nil, forgedCondition{
			Entity: entity, Kind: tables.Insert, Versioned: true, Transactional: true, Version: decide.Version(at, 1), VersionColumn: "version",
			Keyspace: "shop", Table: "t", Key: 1, Part: 1, Columns: []forgedCell{cell("id", wireHas, "int", number(1)), cell("email", wireIsNull, typ, nil)},
		})}}
	}
	plain := func(entity string, n int) []byte {
		c := cell("c", wireIsNull, "int", nil)
		return wire.Append(nil, forgedCondition{
			Entity: entity, Kind: tables.Update, Keyspace: "shop", Table: "t", Key: 2, Part: 1,
			Columns:  []forgedCell{cell("a", wireHas, "int", number(1)), cell("b", wireHas, "int", number(n)), c},
			Compared: []forgedCell{c},
		})
	}
	whole := transactional(evil, "int")
	whole.Err, whole.Tables = evil, []string{evil}
	userType := put(at, func(m *forged) { m.Columns[1] = forgedColumn{"status", wireIsNull, `"` + evil + `"{a int}`, nil} })
	for name, w := range map[string]wireError{
		"entities that differ": {Mode: Conditional, Decision: wireDecision{Conditions: [][]byte{plain(evil, 1), plain("y", 2)}}},
		"twice":                {Mode: Conditional, Decision: wireDecision{Conditions: [][]byte{plain(evil, 1), plain(evil, 1)}}},
		"type":                 {Mode: Transaction, Decision: transactional("e", `"`+evil+`"`)},
		"type of a mutation":   {Mode: Single, Paths: []wirePath{{Mutations: [][]byte{userType.stored()}}}},
		"a whole one":          {Mode: Transaction, Decision: whole},
		"taken":                {Mode: Conditional, Decision: wireDecision{Taken: evil, Tables: []string{evil}, Conditions: [][]byte{plain(evil, 1)}}},
		"undecided":            {Mode: Conditional, Decision: wireDecision{Err: evil, Conditions: [][]byte{plain(evil, 1)}}},
	} {
		w.Op, w.Timestamp = evil, at
		e := new(Error)
		err := e.UnmarshalBinary(sealed(w))
		if err == nil {
			if s := fmt.Sprintf("%v %+v %#v", e, e, e.Tables); printable.Line(s) != s {
				t.Errorf("%s: %q", name, s)
			}
			_, err = fakeWriter(&fakeExecutor{}, Resumes(orderSet(t))).Resume(t.Context(), e)
		}
		if s := err.Error(); printable.Line(s) != s {
			t.Errorf("%s: %q", name, s)
		}
	}
}
