package tables_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/pairs"
)

// others are the Go types with others inside that the package documentation lists. T is text and K int.
var others = map[string]reflect.Type{
	"[]T": reflect.TypeFor[[]string](), "map[T]struct{}": reflect.TypeFor[map[string]struct{}](),
	"map[K]T": reflect.TypeFor[map[int32]string](),
}

// cqlTypes are those that a Go type could be declared with.
var cqlTypes = append(slices.Clone(pairs.CQLTypes),
	strings.Fields("list<text> frozen<list<text>> set<text> frozen<set<text>> map<int,text> frozen<map<int,text>>")...)

// The table of Go types and CQL types in the package documentation is what New accepts.
func TestTypesAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "//\tGo type ")
	table, _, _ = strings.Cut(table, "\n//\n")
	goTypes := maps.Clone(pairs.GoTypes)
	maps.Copy(goTypes, others)
	documented := make(map[string]bool)
	for _, line := range strings.Split(table, "\n")[1:] {
		line = strings.TrimPrefix(line, "//\t")
		cells := regexp.MustCompile(`  +`).Split(line, 3)
		for _, goType := range strings.Split(cells[0], ", ") {
			typ, ok := goTypes[goType]
			if !ok || documented[goType] {
				t.Errorf("%s is documented twice, or not tested", goType)
				continue
			}
			documented[goType] = true
			follows, _ := pairs.Accepts(typ, "")
			row := goType + "  " + documentedType(follows)
			var others []string
			for _, cql := range cqlTypes {
				_, accepted := pairs.Accepts(typ, cql)
				if accepted && cql != follows {
					others = append(others, documentedType(cql))
				}
				if own, defined := pairs.Defined[goType]; defined {
					if _, ok := pairs.Accepts(own, cql); ok != accepted {
						t.Errorf("a type like %s as %s: %t", goType, cql, ok)
					}
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
