package writer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each function on the path of a write that DESIGN.md lists exists, and one before it names it. What gocql calls is a
// method of its interface.
func TestPathOfAWrite(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 15_000 {
		t.Errorf("DESIGN.md has %d bytes, want at most 15,000: reasons are for docs/design", len(text))
	}
	source := newSource(t)
	entry := regexp.MustCompile("(?m)^([0-9]+)\\. `([^`]+)`: (.*)$").FindAllSubmatch(text, -1)
	if len(entry) < 20 {
		t.Fatalf("found %d entries", len(entry))
	}
	var before []*ast.File
	for i, e := range entry {
		name, what := string(e[2]), string(e[3])
		found := source.find(name)
		if len(found) != 1 {
			t.Errorf("%s. %s is declared %d times", e[1], name, len(found))
			continue
		}
		own := name[strings.LastIndex(name, ".")+1:]
		named := slices.ContainsFunc(before, func(file *ast.File) bool { return names(file, own) })
		if i > 0 && !named && !strings.HasPrefix(what, "gocql calls it") {
			t.Errorf("%s. %s is named in no file of a function before it", e[1], name)
		}
		before = append(before, found[0])
	}
}

// Whoever reads a name in DESIGN.md or docs/design finds it in the code.
func TestDesignNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	pages, err := filepath.Glob("../docs/design/*.md")
	if err != nil {
		t.Fatal(err)
	}
	span, found := regexp.MustCompile("`([a-z]\\w*)((?:\\.\\w+){1,2})`"), 0
	for _, path := range append(pages, "../DESIGN.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range span.FindAllSubmatch(text, -1) {
			if name := string(s[1]) + string(s[2]); source.dirs[string(s[1])] == nil {
				continue
			} else if found++; len(source.find(name)) == 0 {
				t.Errorf("%s names %s, and there is no such thing", path, name)
			}
		}
	}
	if found < 50 {
		t.Errorf("found %d names", found)
	}
}

// source is the code of the module.
type source struct {
	tb     testing.TB
	dirs   map[string][]string // of a package, by the last element of its path
	parsed map[string][]*ast.File
}

func newSource(tb testing.TB) *source {
	tb.Helper()
	s := &source{tb, make(map[string][]string), make(map[string][]*ast.File)}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case !entry.IsDir() || path == "..":
			return nil
		case strings.HasPrefix(name, ".") ||
			slices.Contains([]string{"bin", "docs", "examples", "integration", "testdata", "testutil", "tools"}, name):
			return filepath.SkipDir
		default:
			s.dirs[name] = append(s.dirs[name], path)
			return nil
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// find returns the files that declare a name: package.Name, or package.Type.Name for a method, field or function of an
// interface.
func (s *source) find(name string) (found []*ast.File) {
	parts := strings.Split(name, ".")
	for _, dir := range s.dirs[parts[0]] {
		for _, file := range s.parse(dir) {
			for _, d := range file.Decls {
				if declares(d, parts[1:]) {
					found = append(found, file)
				}
			}
		}
	}
	return found
}

func (s *source) parse(dir string) []*ast.File {
	if files, ok := s.parsed[dir]; ok {
		return files
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		s.tb.Fatal(err)
	}
	files := make([]*ast.File, 0, len(paths))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			s.tb.Fatal(err)
		}
		files = append(files, file)
	}
	s.parsed[dir] = files
	return files
}

// declares says whether a declaration is of these names.
func declares(d ast.Decl, names []string) bool {
	last := names[len(names)-1]
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			receiver = typeName(d.Recv.List[0].Type)
		}
		return d.Name.Name == last && (len(names) == 1 && receiver == "" || len(names) == 2 && receiver == names[0])
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				return spec.Name.Name == names[0] && (len(names) == 1 || hasField(spec.Type, last))
			case *ast.ValueSpec:
				return len(names) == 1 && slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return id.Name == last })
			}
			return false
		})
	}
	return false
}

// hasField says whether a struct has a field, or an interface a method.
func hasField(in ast.Expr, name string) bool {
	var fields *ast.FieldList
	switch in := in.(type) {
	case *ast.StructType:
		fields = in.Fields
	case *ast.InterfaceType:
		fields = in.Methods
	default:
		return false
	}
	return slices.ContainsFunc(fields.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == name })
	})
}

// typeName is the name of the type of a receiver.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// names says whether a file calls a function of that name, or hands its method on.
func names(file *ast.File, name string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == name
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			found = found || ok && id.Name == name
		}
		return !found
	})
	return found
}
