package catalog

import (
	"encoding/binary"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

func encodeNumber(t *cqltype.Type, text string) ([]byte, error) {
	switch t.Kind() {
	case gocql.TypeTinyInt:
		return encodeInteger(text, "Unable to make byte from '%s'", 1)
	case gocql.TypeSmallInt:
		return encodeInteger(text, "Unable to make short from '%s'", 2)
	case gocql.TypeInt:
		return encodeInteger(text, "Unable to make int from '%s'", 4)
	case gocql.TypeBigInt, gocql.TypeCounter:
		return encodeInteger(text, "Unable to make long from '%s'", 8)
	case gocql.TypeFloat:
		f, err := parseFloat(text, 32)
		if err != nil {
			return nil, invalid("Unable to make float from '%s'", text)
		}
		bits := uint32(0x7fc00000) // Go's own NaN has other bits than Java's
		if f == f {
			bits = math.Float32bits(float32(f))
		}
		return binary.BigEndian.AppendUint32(nil, bits), nil
	case gocql.TypeDouble:
		f, err := parseFloat(text, 64)
		if err != nil {
			return nil, invalid("Unable to make double from '%s'", text)
		}
		bits := uint64(0x7ff8000000000000)
		if f == f {
			bits = math.Float64bits(f)
		}
		return binary.BigEndian.AppendUint64(nil, bits), nil
	case gocql.TypeVarint:
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, invalid("unable to make BigInteger from '%s'", text)
		}
		return gocql.Marshal(t.Info(), n)
	case gocql.TypeDecimal:
		return encodeDecimal(t, text)
	}
	return nil, unsupported("a literal of type %s", t)
}

func encodeInteger(text, message string, size int) ([]byte, error) {
	n, err := strconv.ParseInt(text, 10, 8*size)
	if err != nil {
		return nil, invalid(message, text)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n))[8-size:], nil
}

// parseFloat reads what Java does: any number, and NaN and Infinity with a sign.
func parseFloat(text string, bits int) (float64, error) {
	if strings.EqualFold(strings.TrimPrefix(text, "-"), "nan") {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, bits)
}

// encodeDecimal keeps the scale that the text has.
func encodeDecimal(t *cqltype.Type, text string) ([]byte, error) {
	refused := invalid("unable to make BigDecimal from '%s'", text)
	mantissa, exponent := text, int64(0)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(text[i+1:], 10, 32); err != nil {
			return nil, refused
		}
		mantissa = text[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, refused
	}
	scale := int64(len(fraction)) - exponent
	if scale != int64(int32(scale)) {
		return nil, refused
	}
	unscaled, err := gocql.Marshal(varint, n)
	if err != nil {
		return nil, unsupported("a literal of type %s: %v", t, err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(scale)), unscaled...), nil
}

var varint = driver.NativeType(gocql.TypeVarint)

func encodeUUID(t *cqltype.Type, text string) ([]byte, error) {
	id, err := gocql.ParseUUID(text)
	if err != nil {
		return nil, invalid("Unable to make UUID from '%s'", text)
	}
	if t.Kind() == gocql.TypeTimeUUID && id.Version() != 1 {
		return nil, invalid("TimeUUID supports only version 1 UUIDs")
	}
	return id.Bytes(), nil
}

func encodeInet(text string) ([]byte, error) {
	if text == "" {
		return []byte{}, nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return nil, invalid("Unable to make inet address from '%s'", text)
	}
	return address.WithZone("").Unmap().AsSlice(), nil
}
