package entity

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// Digest is a hash of what the condition makes of which row: equal for two deliveries of one request, in any process,
// and as good as never for two changes. It is kept by every version of the library, since versions and marks of rows
// are made of it.
//
// It is the first eight bytes, big-endian, of the SHA-256 of these parts, each after its length in four bytes:
//
//	"denorm change 1", the entity, the verb as [Kind.String] gives it
//	the version of the before-image, of a Versioned set
//	name and value of each column of the base key, in key order
//	"compared", then name and value of each compared column as it was, by name
//	"row", then name and value of each other column as it becomes, by name
//
// Left out are columns that have no value, that are derived or only read, and that the library fills: a service that is
// given another column while it waits for the repeat still knows it. The elements of sets and maps are in the order of
// their bytes, as Go gives them in any.
func (c *Condition) Digest() uint64 {
	h, s := sha256.New(), c.base.Set
	part := func(data []byte) { _, _ = h.Write(cqltype.AppendValue(nil, data)) }
	named := func(i int, v *cqltype.Value) {
		part([]byte(s.Columns[i].Name))
		part(v.Type.Ordered(v.Data))
	}
	part([]byte("denorm change 1"))
	part([]byte(c.Entity))
	part([]byte(c.Kind.String()))
	if c.By != layout.Compared {
		part(c.Before.Bytes())
	}
	for k, i := range s.Tables[0].Key {
		named(i, c.base.key[k])
	}
	columns := make([]int, len(s.Columns))
	for i := range columns {
		columns[i] = i
	}
	slices.SortFunc(columns, func(a, b int) int { return cmp.Compare(s.Columns[a].Name, s.Columns[b].Name) })
	part([]byte("compared"))
	for _, i := range columns {
		if c.before != nil && slices.Contains(s.Compared, i) && c.before[i].Data != nil {
			named(i, &c.before[i])
		}
	}
	part([]byte("row"))
	for _, i := range columns {
		switch {
		case c.after == nil, c.after[i].Data == nil, s.Columns[i].Derived != nil, slices.Contains(s.Tables[0].Key, i),
			i == s.Version, i == s.Mark,
			s.Columns[i].ReadOnly:
		default:
			named(i, &c.after[i])
		}
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}
