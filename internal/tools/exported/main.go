// Command exported counts the exported identifiers of packages: types, functions, methods of exported types, constants and
// variables, no fields. With -driver it lists those that mention a type of gocql other than UUID, fields included.
//
//	go run ./exported [-driver] DIR...
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
)

func main() {
	driver := flag.Bool("driver", false, "list what mentions a type of gocql other than UUID")
	flag.Parse()
	total := 0
	for _, dir := range flag.Args() {
		names, mentions, err := count(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		total += names
		fmt.Printf("%5d %s\n", names, dir)
		if *driver {
			for _, m := range mentions {
				fmt.Println("      " + m)
			}
		}
	}
	fmt.Printf("%5d together\n", total)
}

// count returns how many exported identifiers the package in dir has, and which of them mention the driver.
func count(dir string) (names int, mentions []string, err error) {
	packages, err := parser.ParseDir(token.NewFileSet(), dir, //nolint:staticcheck // build tags do not matter here
		func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		return 0, nil, err
	}
	note := func(name string, declared ast.Node) {
		names++
		if declared != nil && mentionsDriver(declared) {
			mentions = append(mentions, name)
		}
	}
	for _, p := range packages {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					name := d.Name.Name
					if d.Recv != nil {
						receiver := receiverName(d.Recv.List[0].Type)
						if !ast.IsExported(receiver) {
							continue
						}
						name = receiver + "." + name
					}
					if d.Name.IsExported() {
						note(name, d.Type)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							if s.Name.IsExported() {
								note(s.Name.Name, s.Type)
							}
						case *ast.ValueSpec:
							for _, n := range s.Names {
								if n.IsExported() {
									note(n.Name, s)
								}
							}
						}
					}
				}
			}
		}
	}
	return names, mentions, nil
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// mentionsDriver says whether exported parts of a declaration name a type of gocql other than UUID.
func mentionsDriver(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				exported := len(f.Names) == 0
				for _, name := range f.Names {
					exported = exported || name.IsExported()
				}
				found = found || exported && mentionsDriver(f.Type)
			}
			return false
		case *ast.SelectorExpr:
			if p, ok := n.X.(*ast.Ident); ok && p.Name == "gocql" && n.Sel.Name != "UUID" {
				found = true
			}
		}
		return true
	})
	return found
}
