package initialize

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// File is a file that was written, or why it was not.
type File struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// States of a [File].
const (
	written   = "written"
	unchanged = "unchanged"
	edited    = "kept, as it was edited: move it away to have it written again"
	follows   = "kept: sets.go was edited"
)

// Write writes the files into a folder, which is made if it is missing. A file that was edited since it was written stays. Each file is there as a
// whole, or not at all.
func (p *Plan) Write(folder string, hosts []string) (out []File, err error) {
	if len(p.Entities) == 0 {
		return nil, nil
	}
	imported, relative, err := importPath(folder)
	if err != nil {
		return nil, err
	}
	name, err := packageOf(folder, imported)
	if err != nil {
		return nil, err
	}
	sets, err := p.sets(name)
	if err != nil {
		return nil, fmt.Errorf("format sets.go: %w", err)
	}
	main, err := mainText(name, imported)
	if err != nil {
		return nil, fmt.Errorf("format main.go: %w", err)
	}
	for _, f := range []struct {
		name, begins string
		text         []byte
		ends         string
		follows      bool // it is of sets.go
	}{
		{"sets.go", "// ", sets, "", false},
		{"migrate.cql", "-- ", []byte(p.Migration()), "", true},
		{"denorm/main.go", "// ", main, "", false},
		{"ADOPT.md", "<!-- ", []byte(p.steps(relative, name, hosts)), " -->", true},
	} {
		keep := f.follows && out[0].State == edited
		state, err := put(filepath.Join(folder, filepath.FromSlash(f.name)), f.begins, f.ends, f.text, keep)
		if err != nil {
			return out, err
		}
		out = append(out, File{path.Join(filepath.ToSlash(folder), f.name), state})
	}
	return out, nil
}

// head is the first line of a file. The sum of what follows tells whether it was edited.
func head(begins, ends string, text []byte) string {
	return fmt.Sprintf("%sWritten by denorm init; an edited file is never written again. Sum: %x%s\n\n", begins, sha256.Sum256(text), ends)
}

// put writes a file, unless it was edited, or is there and is to be kept.
func put(file, begins, ends string, text []byte, keep bool) (state string, err error) {
	text = append([]byte(head(begins, ends, text)), text...)
	old, err := os.ReadFile(file) //nolint:gosec // the user names its folder
	switch {
	case err == nil && bytes.Equal(old, text):
		return unchanged, nil
	case err == nil:
		if _, rest, ok := bytes.Cut(old, []byte("\n\n")); !ok || !bytes.HasPrefix(old, []byte(head(begins, ends, rest))) {
			return edited, nil
		}
		if keep {
			return follows, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // source code
		return "", err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".denorm-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it is renamed if all is well
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return "", err
	}
	return written, os.Rename(temporary.Name(), file)
}

// Check says why files cannot be written into a folder.
func Check(folder string) error {
	imported, _, err := importPath(folder)
	if err == nil {
		_, err = packageOf(folder, imported)
	}
	return err
}

// packageOf is the name of the package of Go files in a folder, or of one that is new.
func packageOf(folder, imported string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", fmt.Errorf("--out %s: %w", folder, err)
	}
	for _, file := range files {
		if built, err := build.Default.MatchFile(folder, filepath.Base(file)); err == nil && !built {
			continue // of another system, or a program that is run by its name
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		switch {
		case strings.HasSuffix(file, "_test.go"):
		case err != nil:
			return "", fmt.Errorf("--out: read the package of its files: %w", err)
		case parsed.Name.Name == "main":
			return "", fmt.Errorf("--out %s: it has package main, which cannot be imported: name another folder", folder)
		default:
			return parsed.Name.Name, nil
		}
	}
	return packageName(imported), nil
}

// importPath finds the module that a folder is in, and gives the import path of the folder and its path in the module.
func importPath(folder string) (imported, relative string, err error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return "", "", err
	}
	for root := at; ; root = filepath.Dir(root) {
		text, err := os.ReadFile(filepath.Join(root, "go.mod")) //nolint:gosec // as go does
		if err == nil {
			relative, err := filepath.Rel(root, at)
			if err != nil {
				return "", "", err
			}
			for line := range strings.Lines(string(text)) {
				if words := strings.Fields(line); len(words) > 1 && words[0] == "module" {
					name := strings.Trim(words[1], "\"`")
					return path.Join(name, filepath.ToSlash(relative)), filepath.ToSlash(relative), nil
				}
			}
		}
		if root == filepath.Dir(root) {
			return "", "", fmt.Errorf("--out %s: no go.mod above it: run go mod init first, or name a folder of a Go module", folder)
		}
	}
}
