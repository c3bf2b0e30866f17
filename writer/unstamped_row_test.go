package writer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type parcel struct {
	ParcelID  gocql.UUID
	State     string
	UpdatedAt int64
}

func parcelSet(more ...tables.Option) *tables.Set[parcel] {
	return tables.Must(tables.New[parcel]("parcel", append([]tables.Option{
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Table{Name: "parcels_by_state", PartKey: []string{"state"}, SortKey: []string{"parcel_id"}},
		tables.OneOf("state", "open", "sent"), tables.Stamp("updated_at"),
	}, more...)...))
}

// A row that was written without the library has no stamp: Modify says what to declare, and sends nothing until it is.
func TestModifyOfARowWithoutStamp(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, parcelSet())
		w, reads := open(t, c)
		p := parcel{ParcelID: gocql.MustRandomUUID(), State: "open"}
		for _, statement := range []string{
			`INSERT INTO parcels (parcel_id, state) VALUES (?, ?)`, `INSERT INTO parcels_by_state (parcel_id, state) VALUES (?, ?)`,
		} {
			if err := reads.Query(statement, p.ParcelID, p.State).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		send := func(p parcel) (parcel, error) {
			p.State = "sent"
			return p, nil
		}
		_, err := writer.Modify(t.Context(), w, "send", parcelSet(), p, send)
		if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "declare UnstampedRows()") {
			t.Errorf("%v, want ErrInvalid that says what to declare", err)
		}
		if got := rows(t, reads, "parcels_by_state", "state"); len(got) != 1 || !strings.Contains(got[0], "open") {
			t.Errorf("after the rejected write: %v", got)
		}
		sent, err := writer.Modify(t.Context(), w, "send", parcelSet(tables.UnstampedRows()), p, send)
		if err != nil || sent.UpdatedAt == 0 {
			t.Errorf("with UnstampedRows: stamp %d, %v", sent.UpdatedAt, err)
		}
		if got := rows(t, reads, "parcels_by_state", "state"); len(got) != 1 || !strings.Contains(got[0], "sent") {
			t.Errorf("after the write: %v", got)
		}
		if _, err := writer.Modify(t.Context(), w, "send", parcelSet(), p, send); err != nil {
			t.Errorf("the row has a stamp now: %v", err)
		}
	})
}
