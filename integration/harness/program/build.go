// Package program builds and runs real servers for tests and demos, from their Go modules.
package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// Program is what is built.
type Program struct {
	Name    string   // for people, such as Jaeger
	Package string   // that is built; the last part of it is the name of the file
	Folder  string   // of the module that requires it, from the root of the repository, with slashes
	Env     []string // variables for the build; may be empty
	Takes   string   // how long a build takes, for people
	Else    string   // what else can be done where the repository is not found, as the end of a sentence; may be empty
}

// Binary returns the path of the program, in the directory of the cluster harness. It is built if it is not there yet.
func (p Program) Binary(ctx context.Context, out io.Writer) (string, error) {
	module, err := p.Module()
	if err != nil {
		return "", err
	}
	home, err := cluster.Home()
	if err != nil {
		return "", err
	}
	key := sha256.New()
	_, _ = fmt.Fprintln(key, runtime.Version(), runtime.GOOS, runtime.GOARCH) // never fails
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", fmt.Errorf("build %s: %w", p.Name, err)
		}
		_, _ = key.Write(data) // never fails
	}
	dir := filepath.Join(home, strings.ToLower(p.Name))
	path := filepath.Join(dir, filepath.Base(p.Package)+"-"+hex.EncodeToString(key.Sum(nil)[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	release, err := cluster.Lock(ctx, path+".lock") // two builds at once take twice as long, or longer
	if err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	defer release()
	if _, err := os.Stat(path); err == nil { // built while this call waited
		return path, nil
	}
	return path, p.Build(ctx, module, path, out)
}

// Module looks for the folder from the working directory upwards.
func (p Program) Module() (string, error) {
	file, err := cluster.FindUp(filepath.Join(filepath.FromSlash(p.Folder), "go.mod"), p.Else)
	return filepath.Dir(file), err
}

// Build builds the program under another name first, so that what is there is whole.
func (p Program) Build(ctx context.Context, module, path string, out io.Writer) error {
	began := time.Now()
	_, _ = fmt.Fprintf(out, "building %s from its Go module, once: about %s ...\n", p.Name, p.Takes)
	partial := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(partial) //nolint:errcheck // it is there only if something failed
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", partial, p.Package)
	cmd.Dir = module
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), p.Env...)
	cmd.WaitDelay = 5 * time.Second
	if _, err := cluster.Run(ctx, cmd); err != nil {
		return fmt.Errorf("build %s: %w", p.Name, err)
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("build %s: %w", p.Name, err)
	}
	_, _ = fmt.Fprintf(out, "built in %.0f s\n", time.Since(began).Seconds())
	return nil
}
