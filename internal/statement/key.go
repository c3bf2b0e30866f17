package statement

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// MaxKeyBytes is the limit of one key column: keys are stored with two bytes of length.
const MaxKeyBytes = 65535

// Present says whether a row is stored under key: no column of it is nil.
func Present(key []*cqltype.Value) bool {
	return !slices.ContainsFunc(key, func(v *cqltype.Value) bool { return v.Data == nil })
}

// AppendArgs appends values as arguments of a statement.
func AppendArgs(args []any, values []*cqltype.Value) []any {
	for _, v := range values {
		args = append(args, v)
	}
	return args
}

// PartitionKey encodes the values of the partition columns as Cassandra does: a single one as it is, several each with
// two bytes of length before and a zero byte behind.
func PartitionKey(values []*cqltype.Value) []byte {
	if len(values) == 1 {
		return values[0].Data
	}
	size := 0
	for _, v := range values {
		size += len(v.Data) + ComponentOverhead
	}
	out := make([]byte, 0, size)
	for _, v := range values {
		out = AppendKeyColumn(out, v.Data)
		out = append(out, 0)
	}
	return out
}

// ComponentOverhead is what a column of a composite partition key takes alongside its bytes.
const ComponentOverhead = 3

// EncodedKey encodes a primary key: keys are equal if these are.
func EncodedKey(key []*cqltype.Value) string {
	var out []byte
	for _, v := range key {
		out = AppendKeyColumn(out, v.Data)
	}
	return string(out)
}

// AppendKeyColumn appends a column to an encoded key. Key columns have at most MaxKeyBytes.
func AppendKeyColumn(out, data []byte) []byte {
	out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
	return append(out, data...)
}
