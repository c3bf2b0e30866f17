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
	for _, c := range []struct {
		b    layout.Bucket
		v    *cqltype.Value
		want bool
	}{
		{layout.Day("at"), &cqltype.Value{Type: text, Data: []byte("2000-01-01")}, true},
		{layout.Day("at"), &cqltype.Value{Type: text, Data: []byte("2000-1-1")}, false},
		{layout.Day("at"), &cqltype.Value{Type: text, Data: []byte("yesterday")}, false},
		{layout.Every(time.Minute, "at"), &cqltype.Value{Type: text, Data: []byte("2000-01-01T10:01:00Z")}, true},
		{layout.Every(time.Minute, "at"), &cqltype.Value{Type: text, Data: []byte("2000-01-01T10:01:01Z")}, false},
		{layout.Month("at"), &cqltype.Value{Type: date, Data: []byte{0x80, 0, 0, 31}}, true},
		{layout.Month("at"), &cqltype.Value{Type: date, Data: []byte{0x80, 0, 0, 30}}, false},
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
