package layout_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/tables"
)

// A Go type that cannot hold what its column can is rejected: such a row could not be read. Unsigned types, which CQL
// lacks, go into the next larger one.
func TestNarrowGoTypesAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err error
		ok  bool
	}{
		"int32 as bigint": {declaredAs[int32]("bigint"), false}, "*int32 as bigint": {declaredAs[*int32]("bigint"), false},
		"int8 as int": {declaredAs[int8]("int"), false}, "int16 as int": {declaredAs[int16]("int"), false},
		"int64 as varint": {declaredAs[int64]("varint"), false}, "float32 as double": {declaredAs[float32]("double"), false},
		"[]int32 as bigints": {declaredAs[[]int32]("set<bigint>"), false},
		"a map of int16":     {declaredAs[map[string]int16]("map<text, int>"), false},
		"int as bigint":      {declaredAs[int]("bigint"), true}, "int as int": {declaredAs[int]("int"), true},
		"int64 as int": {declaredAs[int64]("int"), true},
		"int32 as int": {declaredAs[int32]("int"), true}, "uint16 as int": {declaredAs[uint16]("int"), true},
		"uint32 as bigint":  {declaredAs[uint32]("bigint"), true},
		"big.Int as varint": {declaredAs[*big.Int]("varint"), true}, "uint64 as varint": {declaredAs[uint64]("varint"), true},
	} {
		var fault *declare.DeclarationError
		if errors.As(test.err, &fault) == test.ok || !test.ok &&
			!strings.Contains(test.err.Error(), "cannot be encoded as CQL type") {
			t.Errorf("%s: %v", name, test.err)
		}
	}
}

func declaredAs[V any](cql string) error {
	type row struct {
		ID string
		V  V
	}
	_, err := tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}}, tables.Type("v", cql))
	return err
}
