package initialize

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	follows   = "kept: sets.go was edited; delete it to have it written for the sets above"
)

// Write writes the files into a folder, which is made if it is missing. A file that was edited since it was written
// stays. Each file is there as a whole, or not at all.
func (p *Plan) Write(folder string, hosts []string) (out []File, err error) {
	if len(p.Entities) == 0 {
		return nil, nil
	}
	imported, relative, name, err := place(folder)
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
	for _, f := range []struct{ name, begins, text, ends string }{
		{"sets.go", "// ", string(sets), ""},
		{"migrate.cql", "-- ", p.Migration(), ""},
		{"denorm/main.go", "// ", string(main), ""},
		{"ADOPT.md", "<!-- ", p.steps(relative, name, hosts), " -->"},
	} {
		keep := !strings.HasSuffix(f.name, ".go") && out[0].State == edited
		state, err := put(filepath.Join(folder, filepath.FromSlash(f.name)), f.begins, f.ends, f.text, keep)
		if err != nil {
			return out, err
		}
		out = append(out, File{path.Join(filepath.ToSlash(folder), f.name), state})
	}
	return out, nil
}

// head is the first line of a file. The sum of what follows tells whether it was edited.
func head(begins, ends, text string) string {
	return fmt.Sprintf("%sWritten by denorm init; an edited file is never written again. Sum: %x%s\n\n", begins, sha256.Sum256([]byte(text)), ends)
}

// put writes a file, unless it was edited, or is there and is to be kept.
func put(file, begins, ends, text string, keep bool) (state string, err error) {
	text = head(begins, ends, text) + text
	old, err := os.ReadFile(file) //nolint:gosec // the user names its folder
	switch {
	case err == nil && string(old) == text:
		return unchanged, nil
	case err == nil:
		if _, rest, ok := strings.Cut(string(old), "\n\n"); !ok || string(old) != head(begins, ends, rest)+rest {
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
	_, err = temporary.WriteString(text)
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return "", err
	}
	return written, os.Rename(temporary.Name(), file)
}

// Check says why files cannot be written into a folder.
func Check(folder string) error {
	_, _, _, err := place(folder)
	return err
}

// place finds the module that a folder is in, and gives the import path of the folder, its path in the module, and the
// name of its package.
func place(folder string) (imported, relative, name string, err error) {
	at, err := filepath.Abs(folder)
	if err != nil {
		return "", "", "", err
	}
	root, module := at, moduleOf(at)
	for ; module == nil; module = moduleOf(root) {
		if root == filepath.Dir(root) {
			return "", "", "", fmt.Errorf("--out %s: no go.mod above it: run go mod init first, or name a folder of a Go module", folder)
		}
		root = filepath.Dir(root)
	}
	if relative, err = filepath.Rel(root, at); err != nil {
		return "", "", "", err
	}
	relative = filepath.ToSlash(relative)
	imported = path.Join(module[1], relative)
	if !importPath.MatchString(imported) {
		return "", "", "", fmt.Errorf("--out %s: %q cannot be imported: name folders by letters, digits and any of - . _ ~ +", folder, imported)
	}
	var files []string
	entries, _ := os.ReadDir(at) // Glob would obey brackets in names of folders above
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".go" {
			files = append(files, filepath.Join(at, e.Name()))
		}
	}
	var all []string
	for _, name := range []string{"sets.go", "migrate.cql", "denorm/main.go", "ADOPT.md"} {
		all = append(all, filepath.Join(at, filepath.FromSlash(name)))
	}
	if link := linked(top(folder, root), append(all, files...)); link != "" {
		return "", "", "", fmt.Errorf("--out %s: %s is a link: name its target, or remove it", folder, link)
	}
	if len(files) == 0 {
		return imported, relative, packageName(imported), nil
	}
	found, err := build.ImportDir(folder, 0)
	var none *build.NoGoError
	switch {
	case errors.As(err, &none): // all are of another system, or programs that are run by their names
		return imported, relative, packageName(imported), nil
	case err != nil:
		return "", "", "", fmt.Errorf("--out: read the package of its files: %w", err)
	case found.Name == "main":
		return "", "", "", fmt.Errorf("--out %s: it has package main, which cannot be imported: name another folder", folder)
	}
	return imported, relative, found.Name, nil
}

// importPath matches what the go command takes for one.
var importPath = regexp.MustCompile(`^[A-Za-z0-9./_~+-]+$`)

// top is the folder below which no part of a path may be a link: the root of the module, or a folder above it. The root
// may be found through a link, so a path from the working folder is checked from there on.
func top(folder, root string) string {
	above := func(of string) bool {
		below, err := filepath.Rel(of, root)
		return err == nil && filepath.IsLocal(below)
	}
	wd, err := os.Getwd()
	if err != nil || filepath.IsAbs(folder) && !above(wd) { // the folders above are of whoever owns the machine
		return root
	}
	at := wd
	for !above(at) && at != filepath.Dir(at) {
		at = filepath.Dir(at)
	}
	return at
}

// linked is a part of the path of one of the files that is a link, below a folder; or "". A link may be of whoever
// sends a change for review, and lead out of the module.
func linked(top string, files []string) string {
	for _, file := range files {
		for at := file; at != top && at != filepath.Dir(at); at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return at
			}
		}
	}
	return ""
}

var moduleLine = regexp.MustCompile("(?m)^module[ \t]+[\"`]?([^\\s\"`]+)")

// moduleOf finds the name of the module whose root a folder is; nil without one.
func moduleOf(folder string) []string {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod")) //nolint:gosec // as go does
	if err != nil {
		return nil
	}
	return moduleLine.FindStringSubmatch(string(text))
}
