//go:build ignore

// Command v2 prints all errors of the type checker in the packages of the main module that go list -deps -export -json
// gives it. The compiler and go vet stop at the first package with errors, and all others import it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"path/filepath"
)

type packages struct {
	types.Importer
	checked map[string]*types.Package
}

func (p packages) Import(path string) (*types.Package, error) {
	if found := p.checked[path]; found != nil {
		return found, nil
	}
	return p.Importer.Import(path)
}

func main() {
	fset, exports := token.NewFileSet(), map[string]string{}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	imports := packages{importer.ForCompiler(fset, "gc", lookup), map[string]*types.Package{}}
	config := types.Config{Importer: imports, Error: func(err error) { fmt.Println(err) }}
	for list := json.NewDecoder(os.Stdin); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  struct{ Main bool }
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if !p.Module.Main {
			if p.Export != "" {
				exports[p.ImportPath] = p.Export
			}
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				log.Fatal(err)
			}
			files = append(files, file)
		}
		imports.checked[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil) // Error prints them
	}
}
