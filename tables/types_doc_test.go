package tables_test

import (
	"maps"
	"math/big"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// goTypes declare a column of each Go type that the package documentation lists, with a Type or with "".
var goTypes = map[string]func(cql string) (string, error){
	"string": column[string], "[]byte": column[[]byte], "bool": column[bool],
	"int8": column[int8], "int16": column[int16], "int32": column[int32], "int64": column[int64], "int": column[int],
	"uint8": column[uint8], "uint16": column[uint16], "uint32": column[uint32], "uint64": column[uint64],
	"float32": column[float32], "float64": column[float64], "big.Int": column[big.Int], "inf.Dec": column[inf.Dec],
	"gocql.UUID": column[gocql.UUID], "[16]byte": column[[16]byte], "net.IP": column[net.IP],
	"time.Time": column[time.Time], "time.Duration": column[time.Duration], "gocql.Duration": column[gocql.Duration],
	"[]T": column[[]string], "map[T]struct{}": column[map[string]struct{}], "map[K]T": column[map[int32]string],
}

// cqlTypes are those that a Go type could be declared with. T is text and K int.
var cqlTypes = strings.Split("ascii bigint blob boolean counter date decimal double duration float inet int smallint text time timestamp "+
	"timeuuid tinyint uuid varint list<text> frozen<list<text>> set<text> frozen<set<text>> map<int,text> frozen<map<int,text>>", " ")

// column gives the CQL type of a column of Go type V.
func column[V any](cql string) (string, error) {
	options := []tables.Option{cells}
	if cql != "" {
		options = append(options, tables.Type("v", cql))
	}
	s, err := tables.New[cell[V]]("cell", options...)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(s.Internal().Describe().Tables[0].Columns[1].Type, " ", ""), nil
}

// The table of Go types and CQL types in the package documentation is what New accepts.
func TestTypesAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "//\tGo type ")
	table, _, _ = strings.Cut(table, "\n//\n")
	documented := make(map[string]bool)
	for _, line := range strings.Split(table, "\n")[1:] {
		line = strings.TrimPrefix(line, "//\t")
		cells := regexp.MustCompile(`  +`).Split(line, 3)
		for _, goType := range strings.Split(cells[0], ", ") {
			declare, ok := goTypes[goType]
			if !ok || documented[goType] {
				t.Errorf("%s is documented twice, or not tested", goType)
				continue
			}
			documented[goType] = true
			follows, _ := declare("")
			row := goType + "  " + documentedType(follows)
			var others []string
			for _, cql := range cqlTypes {
				if _, err := declare(cql); err == nil && cql != follows {
					others = append(others, documentedType(cql))
				}
			}
			if len(others) > 0 {
				row += "  " + strings.Join(others, ", ")
			}
			if want := goType + "  " + strings.Join(cells[1:], "  "); row != want {
				t.Errorf("the code has\n%s\nand the documentation\n%s", row, want)
			}
		}
	}
	for _, goType := range slices.Sorted(maps.Keys(goTypes)) {
		if !documented[goType] {
			t.Errorf("%s is not documented", goType)
		}
	}
}

// documentedType is a CQL type as the table spells it: none as -, and with T and K for the types inside.
func documentedType(cql string) string {
	if cql == "" {
		return "-"
	}
	inside := strings.NewReplacer("<text>", "<T>", "<int,text>", "<K,T>")
	return inside.Replace(cql)
}
