package slots

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// BucketFault says why a derived column of the table never has value v, and is empty where it may, and for other columns.
func BucketFault(l tablerow.Layout, column string, v *cqltype.Value) string {
	c := l.Column(column)
	if c == nil || c.Derived == nil {
		return ""
	}
	reason := ""
	for i := range c.Derived.Versions {
		b := c.Derived.Versions[i].Bucket
		if b.Kind == layout.HashBucket {
			if n := cqltype.Number(v.Data); n >= 0 && n < int64(b.N) {
				return ""
			}
			reason = fmt.Sprintf("no bucket of %s: they are 0 to %d", b, b.N-1)
			continue
		}
		if has(b, v) {
			return ""
		}
		if example, err := b.Text(0); err == nil && v.Type.Kind() == gocql.TypeVarchar {
			reason = fmt.Sprintf("no bucket of %s: want text as in %s", b, example)
		} else {
			reason = fmt.Sprintf("no bucket of %s: want the date on which one begins", b)
		}
	}
	return reason
}

// has says whether a value of a derived column is a bucket of time. Of numbers all are.
func has(b layout.Bucket, v *cqltype.Value) bool {
	var t int64
	switch v.Type.Kind() {
	case gocql.TypeVarchar:
		begins, err := time.Parse(b.Layout(), string(v.Data))
		if err != nil {
			return false
		}
		t = begins.UnixMilli()
	case gocql.TypeDate:
		t = (int64(binary.BigEndian.Uint32(v.Data)) - 1<<31) * (24 * time.Hour).Milliseconds()
	default:
		return true
	}
	data, err := layout.EncodeBucket(b, v.Type, t)
	return err == nil && bytes.Equal(data, v.Data)
}
