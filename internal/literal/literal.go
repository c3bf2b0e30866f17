// Package literal writes encoded values as CQL text.
package literal

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// Of is a value as CQL text that an INSERT takes, in UTC: 'text', 12, [1, 2], {'k': 1}, (1, null), {street: 'x'}. The
// bytes of a blob are in hexadecimal form, and so is a number of more than maxNumber bytes, and every value that is not
// valid for the type, or is a user-defined one with fields that the type does not have.
func Of(t *cqltype.Type, data []byte) string {
	if data == nil {
		return "null"
	}
	of := nativeLiteral
	if len(t.Elems()) > 0 {
		of = composedLiteral
	}
	text, ok := of(t, data)
	if !ok {
		return "0x" + hex.EncodeToString(data)
	}
	return text
}

// maxNumber bounds what is printed in decimal digits, which takes more than linear time.
const maxNumber = 64 << 10

func nativeLiteral(t *cqltype.Type, data []byte) (text string, ok bool) {
	if len(data) > maxNumber && (t.Kind() == gocql.TypeVarint || t.Kind() == gocql.TypeDecimal) {
		return "", false
	}
	switch t.Kind() {
	case gocql.TypeText, gocql.TypeVarchar, gocql.TypeAscii:
		return cql.Literal(string(data)), true
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		return literal(t, data, gocql.UUID.String)
	case gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTinyInt, gocql.TypeBigInt, gocql.TypeCounter:
		return literal(t, data, func(n int64) string { return strconv.FormatInt(n, 10) })
	case gocql.TypeVarint:
		return literal(t, data, func(n big.Int) string { return n.String() })
	case gocql.TypeDecimal:
		return literal(t, data, decimalLiteral)
	case gocql.TypeFloat:
		return literal(t, data, func(f float32) string { return floatLiteral(float64(f), 32) })
	case gocql.TypeDouble:
		return literal(t, data, func(f float64) string { return floatLiteral(f, 64) })
	case gocql.TypeBoolean:
		return literal(t, data, strconv.FormatBool)
	case gocql.TypeTimestamp:
		return literal(t, data, timestampLiteral)
	case gocql.TypeDate:
		return dateLiteral(data)
	case gocql.TypeTime:
		return literal(t, data, func(d time.Duration) string {
			return "'" + time.Time{}.Add(d).Format("15:04:05.000000000") + "'"
		})
	case gocql.TypeDuration:
		return literal(t, data, durationLiteral)
	case gocql.TypeInet:
		return literal(t, data, func(ip net.IP) string { return "'" + ip.String() + "'" })
	}
	return "", false
}

// literal is the text of a value that the driver decodes. A number of no bytes, which the server takes, is none to it.
func literal[T any](t *cqltype.Type, data []byte, text func(T) string) (string, bool) {
	var value T
	if len(data) == 0 || gocql.Unmarshal(t.Info(), data, &value) != nil {
		return "", false
	}
	return text(value), true
}

// decimalLiteral keeps the scale: 1.50 is another value than 1.5 to a client.
func decimalLiteral(d inf.Dec) string {
	if d.Scale() < 0 || d.Scale() > 40 { // with all its zeros it could have gigabytes
		return d.UnscaledBig().String() + "E" + strconv.FormatInt(-int64(d.Scale()), 10)
	}
	return d.String()
}

func floatLiteral(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, bits)+"inity", "+")
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// timestampLiteral is the time, or its milliseconds where the server would read the text by the Julian calendar, or not
// at all.
func timestampLiteral(at time.Time) string {
	if at = at.UTC(); at.Year() < 1583 || at.Year() > 9999 {
		return strconv.FormatInt(at.UnixMilli(), 10)
	}
	return "'" + at.Format("2006-01-02 15:04:05.000Z") + "'"
}

// dateLiteral is the day, or its number where the year has not four digits.
func dateLiteral(data []byte) (string, bool) {
	if len(data) != 4 {
		return "", false
	}
	if day := cqltype.Day(data); day.Year() >= 0 && day.Year() <= 9999 {
		return day.Format("'2006-01-02'"), true
	}
	return strconv.FormatUint(uint64(binary.BigEndian.Uint32(data)), 10), true
}

func durationLiteral(d gocql.Duration) string {
	var b strings.Builder
	if d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0 { // then none is positive
		b.WriteByte('-')
	}
	part := func(n int64, unit string) {
		if n != 0 {
			b.WriteString(strings.TrimPrefix(strconv.FormatInt(n, 10), "-") + unit)
		}
	}
	part(int64(d.Months), "mo")
	part(int64(d.Days), "d")
	if part(d.Nanoseconds, "ns"); b.Len() == 0 {
		return "0ns"
	}
	return b.String()
}

// composedLiteral is the text of a value with values inside.
func composedLiteral(t *cqltype.Type, data []byte) (text string, ok bool) {
	parts, ok := t.Parts(data)
	types := t.Elems()
	if !ok || !t.Collection() && len(parts) > len(types) {
		return "", false
	}
	texts := make([]string, len(parts))
	for n, part := range parts {
		texts[n] = Of(types[n%len(types)], part)
	}
	switch t.Kind() {
	case gocql.TypeList:
		return "[" + strings.Join(texts, ", ") + "]", true
	case gocql.TypeTuple:
		return "(" + strings.Join(texts, ", ") + ")", true
	case gocql.TypeMap:
		pairs := slices.Collect(slices.Chunk(texts, 2))
		texts = texts[:0]
		for _, p := range pairs {
			texts = append(texts, p[0]+": "+p[1])
		}
	case gocql.TypeUDT:
		for i := range texts {
			texts[i] = cql.Quote(t.User().Fields[i].Name) + ": " + texts[i]
		}
	}
	return "{" + strings.Join(texts, ", ") + "}", true
}
