package slots

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// Of a bucket of time as a date, only the first day is one.
func TestBucketHas(t *testing.T) {
	t.Parallel()
	text, date := must(cqltype.Parse("text")), must(cqltype.Parse("date"))
	day, month := layout.Bucket{Kind: layout.DayBucket, Width: 24 * time.Hour}, layout.Bucket{Kind: layout.MonthBucket}
	minute := layout.Bucket{Kind: layout.EveryBucket, Width: time.Minute}
	for _, c := range []struct {
		b    layout.Bucket
		v    *cqltype.Value
		want bool
	}{
		{day, &cqltype.Value{Type: text, Data: []byte("2000-01-01")}, true},
		{day, &cqltype.Value{Type: text, Data: []byte("2000-1-1")}, false},
		{day, &cqltype.Value{Type: text, Data: []byte("yesterday")}, false},
		{minute, &cqltype.Value{Type: text, Data: []byte("2000-01-01T10:01:00Z")}, true},
		{minute, &cqltype.Value{Type: text, Data: []byte("2000-01-01T10:01:01Z")}, false},
		{month, &cqltype.Value{Type: date, Data: []byte{0x80, 0, 0, 31}}, true},
		{month, &cqltype.Value{Type: date, Data: []byte{0x80, 0, 0, 30}}, false},
	} {
		if has(c.b, c.v) != c.want {
			t.Errorf("%s, %q: %t", c.b, c.v.Data, !c.want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
