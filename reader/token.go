package reader

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/denorm-go/denorm/tables"
)

// Token is the place in a query's order at which it can be continued: the clustering key of the last row, its bucket, and
// a mark of the query. It can be stored and given away as text that fits into a URL. It is not encrypted: who has it can read
// that clustering key, so it is no more public than the rows. It need not be trusted when it comes back: it moves a
// query within its own range, and nowhere else. The empty token is the beginning.
type Token string

// tokenVersion comes first. A token of another one is refused.
const tokenVersion = 1

// markSize is how much of the query's hash is in a token.
const markSize = 16

// position is the row after which a query continues.
type position struct {
	key [][]byte // by clustering column, also those that equal a value
	id  []byte   // of the partition
}

// mark tells queries apart: by table, keyspace, values, range, order, and row identity; not by limit.
func (b *bound) mark(keyspace string) []byte {
	h := sha256.New()
	add := func(s []byte) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(s)))) // never fails
		_, _ = h.Write(s)
	}
	text := func(s string) { add([]byte(s)) }
	text(b.layout.Entity())
	text(keyspace)
	text(b.name)
	for _, names := range [][]string{b.partition, b.columns} {
		add(nil)
		for _, name := range names {
			text(name)
			if v := b.equal[name]; v != nil {
				text("=")
				add(v.Bytes())
			}
		}
	}
	for _, end := range []*tables.Bound{b.low, b.high} {
		if end == nil {
			text("-")
			continue
		}
		text(b.ranged)
		add(end.Value.Bytes())
		if end.Open {
			text("open")
		}
	}
	for i := range b.columns {
		text(strconv.FormatBool(b.descending(i)))
	}
	return h.Sum(nil)[:markSize]
}

// token writes a position down.
func (p *position) token(mark []byte) Token {
	out := append([]byte{tokenVersion}, mark...)
	out = binary.AppendUvarint(out, uint64(len(p.key)))
	for _, v := range append(slices.Clip(p.key), p.id) {
		out = binary.AppendUvarint(out, uint64(len(v)))
		out = append(out, v...)
	}
	return Token(base64.RawURLEncoding.EncodeToString(out))
}

// position reads the token of the query; nil is the beginning.
func (b *bound) position(mark []byte) (*position, error) {
	if b.token == "" {
		return nil, nil
	}
	refuse := func(reason string) error {
		return &QueryError{Table: b.name, Reason: reason, cause: ErrToken}
	}
	data, err := base64.RawURLEncoding.DecodeString(string(b.token))
	if err != nil || len(data) < 1+markSize || data[0] != tokenVersion {
		return nil, refuse("the token was not made by this library, or by another version of it")
	}
	if !bytes.Equal(data[1:1+markSize], mark) {
		return nil, refuse("the token is of another query")
	}
	p, ok := cutPosition(data[1+markSize:])
	if !ok || len(p.key) != len(b.columns) || !b.holds(p.key) {
		return nil, refuse("the token is damaged")
	}
	return p, nil
}

func cutPosition(data []byte) (*position, bool) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)) {
		return nil, false
	}
	data = data[size:]
	var values [][]byte
	for range n + 1 {
		length, size := binary.Uvarint(data)
		if size <= 0 || length > uint64(len(data)-size) {
			return nil, false
		}
		values = append(values, data[size:size+int(length)]) // at most len(data)
		data = data[size+int(length):]
	}
	return &position{key: values[:n], id: values[n]}, len(data) == 0
}

// holds says whether a clustering key is within the query. What a token says is no reason to read anything else.
func (b *bound) holds(key [][]byte) bool {
	for i, name := range b.columns {
		switch v := b.equal[name]; {
		case v != nil && !bytes.Equal(v.Bytes(), key[i]):
			return false
		case v == nil && !b.layout.Fits(i, key[i]):
			return false
		}
	}
	if b.low != nil {
		if c := b.layout.Compare(b.fixed, key[b.fixed], b.low.Value.Bytes()); c < 0 || c == 0 && b.low.Open {
			return false
		}
	}
	if b.high != nil {
		if c := b.layout.Compare(b.fixed, key[b.fixed], b.high.Value.Bytes()); c > 0 || c == 0 && b.high.Open {
			return false
		}
	}
	return true
}
