package files

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
)

// What users can name is in testdata/exported.golden, so that a change of it is seen.
func TestExported(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, dir := range strings.Fields("cassandratest reader reconcile retry schema schema/lint schema/rotation session tables " +
		"tracing writer writer/bulk writer/explain cmd/denorm/command reconcile/temporal") {
		names := publicNames(t, filepath.Join("../../..", dir))
		if len(names) == 0 {
			t.Errorf("%s has none", dir)
		}
		for _, name := range names {
			b.WriteString(dir + " " + name + "\n")
		}
	}
	golden.Check(t, "exported.golden", b.String())
}

// publicNames are the exported types, functions, methods of exported types, constants and variables of a package.
func publicNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	note := func(of string, id *ast.Ident) {
		if id.IsExported() {
			names = append(names, of+id.Name)
		}
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					note("", d.Name)
				} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) {
					note(of+".", d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						note("", s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							note("", id)
						}
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
