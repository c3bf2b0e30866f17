package files

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
)

const (
	everyText    = "\n## Every text\n" // the heading above the list
	longestError = 200                 // bytes: who reads it has one question
)

// Somebody who got an error finds its text in docs/ref/errors.md, and reads it in one go.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	const path = "docs/ref/errors.md"
	page, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	prose, _, found := strings.Cut(string(page), everyText)
	if !found {
		t.Fatalf("%s has no heading Every text", path)
	}
	var b strings.Builder
	b.WriteString(prose + everyText + "\nA test writes this list from the code. `%s`, `%d`, `%v`, `%q` and `%w` stand for names, limits " +
		"and causes.\n")
	product, total := readProduct(t), 0
	for _, dir := range slices.Sorted(maps.Keys(product.files)) {
		texts := product.texts(dir)
		if len(texts) == 0 {
			continue
		}
		total += len(texts)
		b.WriteString("\n### " + dir + "\n\n```text\n" + strings.Join(texts, "\n") + "\n```\n")
		for _, text := range texts {
			if len(text) > longestError {
				t.Errorf("%s: %d bytes, want at most %d: %s", dir, len(text), longestError, text)
			}
		}
	}
	if total < 500 {
		t.Errorf("found %d texts: not all", total)
	}
	golden.Check(t, filepath.Join("..", root, path), b.String())
}

// product is the code that users link or run.
type product struct {
	files map[string][]*ast.File // by directory
	makes map[maker]bool         // by name alone: the types are not looked at
}

// maker is a function whose parameter at this place becomes the text of an error.
type maker struct {
	name  string
	place int
}

func readProduct(t *testing.T) product {
	t.Helper()
	p := product{make(map[string][]*ast.File), map[maker]bool{{"errors.New", 0}: true, {"fmt.Errorf", 0}: true}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		dir := strings.TrimPrefix(filepath.Dir(path), root+"/")
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			switch name := strings.TrimPrefix(path, root+"/"); name {
			case ".git", "bin", "examples", "integration", "internal/cassandra", "internal/testutil", "internal/tools":
				return filepath.SkipDir
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			p.files[dir] = append(p.files[dir], file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for before := 0; before != len(p.makes); {
		before = len(p.makes)
		for _, files := range p.files {
			for _, file := range files {
				p.learn(file)
			}
		}
	}
	return p
}

// learn finds the functions that give one of their parameters to one that makes an error.
func (p product) learn(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				p.learnOf(n.Name.Name, n.Type, n.Body)
			}
		case *ast.AssignStmt:
			if f, is := n.Rhs[0].(*ast.FuncLit); is {
				if name, is := n.Lhs[0].(*ast.Ident); is {
					p.learnOf(name.Name, f.Type, f.Body)
				}
			}
		}
		return true
	})
}

func (p product) learnOf(name string, f *ast.FuncType, body *ast.BlockStmt) {
	params, n := make(map[string]int), 0
	for _, field := range f.Params.List {
		of, is := field.Type.(*ast.Ident)
		for _, param := range field.Names {
			if is && of.Name == "string" {
				params[param.Name] = n
			}
			n++
		}
	}
	p.each(body, func(arg ast.Expr) {
		if call, is := arg.(*ast.CallExpr); is && callee(call) == "fmt.Sprintf" {
			arg = call.Args[0]
		}
		for sum, is := arg.(*ast.BinaryExpr); is; sum, is = arg.(*ast.BinaryExpr) {
			arg = sum.Y
		}
		if id, is := arg.(*ast.Ident); is {
			if at, is := params[id.Name]; is {
				p.makes[maker{name, at}] = true
			}
		}
	})
}

// each calls f with what becomes the text of an error below n.
func (p product) each(n ast.Node, f func(arg ast.Expr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := callee(n)
			for i, arg := range n.Args {
				if p.makes[maker{name, i}] {
					f(arg)
				}
			}
		case *ast.CompositeLit: // &InvalidError{Reason: ...}
			if name := typeName(n.Type); strings.HasSuffix(name, "Error") || name == "Fault" {
				for _, e := range n.Elts {
					if field, is := e.(*ast.KeyValueExpr); is {
						f(field.Value)
					}
				}
			}
		case *ast.FuncDecl:
			if n.Recv != nil && n.Name.Name == "Error" && n.Body != nil {
				ast.Inspect(n.Body, func(n ast.Node) bool {
					if e, is := n.(ast.Expr); is && text(e, nil) != "" {
						f(e)
						return false
					}
					return true
				})
			}
		}
		return true
	})
}

func (p product) texts(dir string) (list []string) {
	constants := make(map[string]ast.Expr)
	for _, file := range p.files[dir] {
		for _, d := range file.Decls {
			if d, is := d.(*ast.GenDecl); is && d.Tok == token.CONST {
				for _, s := range d.Specs {
					s := s.(*ast.ValueSpec)
					for i, name := range s.Names {
						if i < len(s.Values) {
							constants[name.Name] = s.Values[i]
						}
					}
				}
			}
		}
	}
	for _, file := range p.files[dir] {
		p.each(file, func(arg ast.Expr) {
			if found := text(arg, constants); len(words.FindAllString(verbs.ReplaceAllString(found, ""), 2)) == 2 {
				list = append(list, found)
			}
		})
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var (
	verbs = regexp.MustCompile(`%[^ a-zA-Z]*[a-zA-Z]`)
	words = regexp.MustCompile(`[a-zA-Z]{2,}`)
)

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, is := f.X.(*ast.Ident); is && (of.Name == "errors" || of.Name == "fmt") {
			return of.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}

// text is what an expression says, with %s for what is not known before it runs; empty if nothing is.
func text(e ast.Expr, constants map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if s, err := strconv.Unquote(e.Value); err == nil {
				return strings.ReplaceAll(s, "\n", `\n`)
			}
		}
	case *ast.ParenExpr:
		return text(e.X, constants)
	case *ast.BinaryExpr:
		x, y := text(e.X, constants), text(e.Y, constants)
		switch {
		case x == "" && y == "" || e.Op != token.ADD:
			return ""
		case x == "":
			x = "%s"
		case y == "":
			y = "%s"
		}
		return x + y
	case *ast.CallExpr:
		if callee(e) == "fmt.Sprintf" && len(e.Args) > 0 {
			return text(e.Args[0], constants)
		}
	case *ast.Ident:
		if value, is := constants[e.Name]; is {
			return text(value, constants)
		}
	}
	return ""
}
