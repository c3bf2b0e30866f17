package tables_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/slots"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

const hidden = "Kreuzspinne4711"

// Whatever this package and those below it export that holds values of rows prints and marshals without them, in every
// format, by value and by pointer. A type that is exported again has to be named here.
func TestNothingShowsValues(t *testing.T) {
	t.Parallel()
	type patient struct{ PatientID, Name, Mail string }
	set := tables.Must(tables.New[patient]("patient", tables.Table{Name: "patients", PartKey: []string{"patient_id"}},
		tables.Table{Name: "by_name", PartKey: []string{"name"}, SortKey: []string{"patient_id"}},
		tables.SingleWriter("name")))
	row := patient{PatientID: hidden, Name: "n" + hidden, Mail: hidden}
	change := set.Update(row, row)
	rendered, err := change.Internal().Render(now, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := entity.BaseOf(set.Internal(), row, nil)
	if err != nil {
		t.Fatal(err)
	}
	value, ok := rendered.Mutations[0].Args[0].(*cqltype.Value)
	if !ok || string(value.Data) != hidden {
		t.Fatal("the hidden is not bound: the test tests nothing")
	}
	conditional := claiming(t)
	text, _, _ := base.Select()
	read, err := tablerow.Of(set.Internal(), row)
	if err != nil {
		t.Fatal(err)
	}
	transaction := entity.NewTransaction([]*entity.Conditional{&conditional}, nil, nil)
	things := map[string]any{
		"Base": *base, "layout.Bound": slots.Bound{Value: value},
		"layout.Bounds":   slots.Bounds{Equal: map[string]*cqltype.Value{"id": value}},
		"statement.Bound": text, "statement.Column": statement.ColumnOf("id", value),
		"statement.MergeColumn": statement.MergeColumn{Name: "id", Value: value}, "statement.Mutation": rendered.Mutations[0],
		"statement.Terms": statement.KeyTerms([]string{"id"}, []*cqltype.Value{value}), "cqltype.Value": *value,
		"Change": change,
		"Claim":  *conditional.Claims[0], "Condition": *conditional.Condition, "Conditional": conditional,
		"Edit": tables.Without("name", hidden), "Holder": entity.Holder{Base: base},
		"Rendered": rendered, "Renderer": entity.Renderer{
			Set: set.Internal(), Kind: entity.Insert,
			Before: []cqltype.Value{*value},
		},
		"Row":  *conditional.Condition.After(),
		"Swap": conditional.Condition.Swap(), "Keys": entity.Keys("hidden"),
		"Pending":      entity.Pending{Keys: entity.Keys("hidden")},
		"tablerow.Row": read, "Transaction": *transaction, "Found": *transaction.Found(),
	}
	plain := []string{ // they hold declarations, or nothing of a row
		"Bucket", "BucketKind", "ChangeRule", "Column", "ColumnDescription", "Decided", "Derivation", "Described",
		"Description", "Fault", "FieldDescription", "InvalidError",
		"Kind", "Layout", "Metadata", "OneOf", "Option", "Placed", "Rotation", "Set", "Slot", "Slots", "Table",
		"TableDescription",
		"TypeDescription", "Version", "Statements", "Kept", "Recent",
		"Declaration", "DeclarationError", "Derive", "Since", "TypeOption", "UserType", "Decoder", "EditKind", "MutationKind",
		"Written", "Field", "NoTypeError",
		"Type", "Types", "Pairing", "Survey", "Surveyor",
	}
	names := append(exported(t, "."), exported(t, "../internal/entity")...)
	for _, below := range []string{"statement", "cqltype", "tablerow", "layout", "declare"} {
		for _, name := range exported(t, "../internal/"+below) {
			names = append(names, below+"."+name)
		}
	}
	for _, name := range names {
		if _, ok := things[name]; !ok && !slices.Contains(plain, name[strings.LastIndex(name, ".")+1:]) {
			t.Errorf("nothing is known of what %s shows", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(things)) {
		pointer := reflect.New(reflect.TypeOf(things[name]))
		pointer.Elem().Set(reflect.ValueOf(things[name]))
		shows(t, name, things[name])
		shows(t, "*"+name, pointer.Interface())
		shows(t, "[]"+name, []any{things[name], pointer.Interface()})
	}
}

// claiming is a conditional change with a claim of the hidden.
func claiming(tb testing.TB) entity.Conditional {
	tb.Helper()
	c, err := accountSet(tb).Insert(newAccount(func(a *account) { a.Email, a.Version = ptr(hidden), gocql.UUID{} })).
		Internal().RenderConditional(now, version, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func shows(t *testing.T, name string, thing any) {
	t.Helper()
	numbers := strings.Trim(fmt.Sprintf("%d", []byte(hidden)), "[]")
	outputs := make(map[string]string)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%t", "%o"} {
		outputs[format] = fmt.Sprintf(format, thing)
	}
	data, err := json.Marshal(thing)
	outputs["JSON"] = string(data)
	if err != nil {
		outputs["JSON error"] = err.Error()
	}
	for format, text := range outputs {
		for _, form := range []string{
			hidden, hex.EncodeToString([]byte(hidden)), fmt.Sprintf("% x", hidden), numbers,
			strings.ReplaceAll(numbers, " ", ","),
			base64.StdEncoding.EncodeToString([]byte(hidden))[:16], fmt.Sprintf("%#v", []byte(hidden))[7:40],
		} {
			if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
				t.Errorf("%s as %s shows a value: %.300s", name, format, text)
			}
		}
	}
}

// exported are the names of the types that the package in a directory exports.
func exported(t *testing.T, directory string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	return names
}
