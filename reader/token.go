package reader

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/slots"
	"github.com/denorm-go/denorm/internal/wire"
)

// Token is the place in a query's order at which it can be continued, as text that fits into a URL. The empty token is
// the beginning. A token holds the clustering key of the last row, its bucket, and hashes of the query and its bounds.
// It does not hold the bounds: every page needs the bounds of page 1. If they depend on the clock, store them with the
// token.
//
// A token is not encrypted: its holder can read that clustering key, and check guesses of the query's values and
// bounds. Encrypt it if these are secret. Tokens from clients are safe to accept: a forged one can only change where
// the page begins within the query's own range.
type Token string

// tokenVersion comes first. A token of another one is rejected.
const tokenVersion = 3

// marks is what the mark of a query in a token is made of: a hash of each. An error names those that differ.
var marks = []string{
	"another table or keyspace", "other values of Eq", "another order",
	"other bounds: every page needs the bounds of page 1",
}

// hashSize is how much of each hash is in a token, and markSize all of them.
const (
	hashSize = 4
	markSize = 4 * hashSize
)

// position is the row after which a query continues.
type position struct {
	Key [][]byte // by clustering column, also those that equal a value
	ID  []byte   // of the partition
}

// mark tells queries apart: by table, keyspace, values, range, order, and row identity; not by limit.
func (b *bound) mark(keyspace string) []byte {
	var table, values, order, bounds hashed
	table.text(b.layout.Set.Name)
	table.text(keyspace)
	table.text(b.name)
	for _, names := range [][]string{b.partition, b.columns} {
		table.add(nil)
		for _, name := range names {
			table.text(name)
			if v := b.equal[name]; v != nil {
				values.text(name)
				values.add(v.Data)
			}
		}
	}
	for i := range b.columns {
		order.text(strconv.FormatBool(b.descending(i)))
	}
	for _, end := range []*slots.Bound{b.low, b.high} {
		if end == nil {
			bounds.text("-")
			continue
		}
		bounds.text(b.ranged)
		bounds.add(end.Value.Data)
		if end.Open {
			bounds.text("open")
		}
	}
	var mark []byte
	for _, part := range []hashed{table, values, order, bounds} { // as in marks
		mark = append(mark, checksum(part)...)
	}
	return mark
}

// hashed is what a hash is made of: texts, each with its length before it.
type hashed []byte

func (h *hashed) add(s []byte) { *h = append(binary.AppendUvarint(*h, uint64(len(s))), s...) }

func (h *hashed) text(s string) { h.add([]byte(s)) }

// unlike names what of two marks differs.
func unlike(mark, other []byte) string {
	var out []string
	for i, what := range marks {
		if at := i * hashSize; !bytes.Equal(mark[at:at+hashSize], other[at:at+hashSize]) {
			out = append(out, what)
		}
	}
	return strings.Join(out, " and ")
}

// token writes a position down, with a checksum: a client may have cut it.
func (p *position) token(mark []byte) Token {
	data := wire.Append(append([]byte{tokenVersion}, mark...), *p)
	return Token(base64.RawURLEncoding.EncodeToString(append(data, checksum(data)...)))
}

func checksum(data []byte) []byte {
	hash := sha256.Sum256(data)
	return hash[:hashSize]
}

// position reads the token of the query; nil is the beginning.
func (b *bound) position(mark []byte) (*position, error) {
	if b.token == "" {
		return nil, nil
	}
	refuse := func(reason string) error { return b.rejected("", reason, ErrToken) }
	data, err := base64.RawURLEncoding.DecodeString(string(b.token))
	if err != nil || len(data) < 1+markSize+hashSize || data[0] != tokenVersion {
		return nil, refuse("the token was not made by this library, or by another version of it")
	}
	data, sum := data[:len(data)-hashSize], data[len(data)-hashSize:]
	if !bytes.Equal(checksum(data), sum) {
		return nil, refuse("the token is damaged")
	}
	if differs := unlike(data[1:1+markSize], mark); differs != "" {
		return nil, refuse("the token is of another query, with " + differs)
	}
	p := new(position)
	if _, err := wire.Decode(data[1+markSize:], p, len(b.columns)); err != nil || len(p.Key) != len(b.columns) ||
		!b.holds(p.Key) {
		return nil, refuse("the token is damaged")
	}
	return p, nil
}

// holds says whether a clustering key is within the query. A token must not make a query read anything else.
func (b *bound) holds(key [][]byte) bool {
	for i, name := range b.columns {
		switch v := b.equal[name]; {
		case v != nil && !bytes.Equal(v.Data, key[i]):
			return false
		case v == nil && !b.layout.Fits(i, key[i]):
			return false
		}
	}
	beyond := func(end *slots.Bound, sign int) bool {
		if end == nil {
			return false
		}
		c := sign * b.layout.Compare(b.fixed, key[b.fixed], end.Value.Data)
		return c > 0 || c == 0 && end.Open
	}
	return !beyond(b.low, -1) && !beyond(b.high, 1)
}
