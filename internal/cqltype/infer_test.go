package cqltype_test

import (
	"math/big"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

type (
	status  string
	rawID   [16]byte
	myBytes []byte
	tree    []tree
	forest  map[string]*forest

	marshaler        string
	pointerMarshaler string
)

func (marshaler) MarshalCQL(gocql.TypeInfo) ([]byte, error)         { return nil, nil }
func (*pointerMarshaler) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return nil, nil }

func TestInfer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		goType reflect.Type
		want   string
	}{
		{reflect.TypeFor[string](), "text"},
		{reflect.TypeFor[status](), "text"},
		{reflect.TypeFor[*status](), "text"},
		{reflect.TypeFor[[]byte](), "blob"},
		{reflect.TypeFor[myBytes](), "blob"},
		{reflect.TypeFor[bool](), "boolean"},
		{reflect.TypeFor[int8](), "tinyint"},
		{reflect.TypeFor[int16](), "smallint"},
		{reflect.TypeFor[int32](), "int"},
		{reflect.TypeFor[int64](), "bigint"},
		{reflect.TypeFor[int](), "bigint"},
		{reflect.TypeFor[float32](), "float"},
		{reflect.TypeFor[float64](), "double"},
		{reflect.TypeFor[gocql.UUID](), "uuid"},
		{reflect.TypeFor[[16]byte](), "uuid"},
		{reflect.TypeFor[rawID](), "uuid"},
		{reflect.TypeFor[time.Time](), "timestamp"},
		{reflect.TypeFor[*time.Time](), "timestamp"},
		{reflect.TypeFor[inf.Dec](), "decimal"},
		{reflect.TypeFor[*inf.Dec](), "decimal"},
		{reflect.TypeFor[*big.Int](), "varint"},
		{reflect.TypeFor[net.IP](), "inet"},
		{reflect.TypeFor[gocql.Duration](), "duration"},
		{reflect.TypeFor[[]string](), "list<text>"},
		{reflect.TypeFor[[]*string](), "list<text>"},
		{reflect.TypeFor[map[string]struct{}](), "set<text>"},
		{reflect.TypeFor[map[gocql.UUID]int32](), "map<uuid, int>"},
		{reflect.TypeFor[map[string][]map[int]struct{}](), "map<text, frozen<list<frozen<set<bigint>>>>>"},
	}
	for _, tc := range tests {
		got, err := (*cqltype.Types)(nil).Infer(tc.goType)
		if err != nil {
			t.Errorf("%s: %v", tc.goType, err)
			continue
		}
		if got.String() != tc.want {
			t.Errorf("%s: %s, want %s", tc.goType, got, tc.want)
		}
		if got.Definition() != mustParse(t, tc.want).Definition() || !got.Matches(mustParse(t, tc.want).Info()) {
			t.Errorf("%s: differs from the type read from %s", tc.goType, tc.want)
		}
	}
}

func TestInferRefuses(t *testing.T) {
	t.Parallel()
	for _, goType := range []reflect.Type{
		reflect.TypeFor[time.Duration](), reflect.TypeFor[uint64](), reflect.TypeFor[uint8](), reflect.TypeFor[any](),
		reflect.TypeFor[struct{ A int }](), reflect.TypeFor[chan int](), reflect.TypeFor[func()](),
		reflect.TypeFor[[4]byte](),
		reflect.TypeFor[complex128](), reflect.TypeFor[[]uint16](), reflect.TypeFor[map[string]any](),
		reflect.TypeFor[marshaler](), reflect.TypeFor[*marshaler](), reflect.TypeFor[[]marshaler](),
		reflect.TypeFor[pointerMarshaler](), reflect.TypeFor[*pointerMarshaler](),
		reflect.TypeFor[tree](), reflect.TypeFor[forest](),
	} {
		if got, err := (*cqltype.Types)(nil).Infer(goType); err == nil ||
			!strings.HasPrefix(err.Error(), "no CQL type follows from Go type ") {
			t.Errorf("%s: %v, %v, want an error", goType, got, err)
		}
	}
}
