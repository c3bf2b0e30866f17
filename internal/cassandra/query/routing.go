package query

import "github.com/denorm-go/denorm/internal/cassandra/catalog"

// maxKey is the length of a column of a key, and of all clustering columns of a row together
// (FBUtilities.MAX_UNSIGNED_SHORT).
const maxKey = 1<<16 - 1

// RoutingKey encodes the values of a partition key as the protocol does.
func RoutingKey(values [][]byte) (string, error) {
	if len(values) == 1 {
		if len(values[0]) == 0 {
			return "", invalid("Key may not be empty")
		}
		return string(values[0]), nil
	}
	var b []byte
	for _, v := range values {
		if len(v) > maxKey {
			return "", invalid("Key length of %d is longer than maximum of %d", len(v), maxKey)
		}
		b = append(b, byte(len(v)>>8), byte(len(v)))
		b = append(append(b, v...), 0)
	}
	return string(b), nil
}

// SplitKey is the reverse of [RoutingKey].
func SplitKey(t *catalog.Table, key string) [][]byte {
	if len(t.Partition) == 1 {
		return [][]byte{[]byte(key)}
	}
	var out [][]byte
	for len(key) >= 2 {
		n := int(key[0])<<8 | int(key[1])
		out = append(out, []byte(key[2:2+n]))
		key = key[3+n:]
	}
	return out
}
