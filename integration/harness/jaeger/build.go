package jaeger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

const allInOne = "github.com/jaegertracing/jaeger/cmd/all-in-one"

// Build builds what [Start] starts, unless that is done already. Tests would do it themselves, but they have a time limit.
func Build(ctx context.Context, out io.Writer) error {
	_, err := binary(ctx, out)
	return err
}

// binary returns the path of Jaeger's program. It is built if it is not there yet.
func binary(ctx context.Context, out io.Writer) (string, error) {
	module, err := findModule()
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
			return "", fmt.Errorf("build Jaeger: %w", err)
		}
		_, _ = key.Write(data) // never fails
	}
	dir := filepath.Join(home, "jaeger")
	path := filepath.Join(dir, "all-in-one-"+hex.EncodeToString(key.Sum(nil)[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("build Jaeger: %w", err)
	}
	return path, build(ctx, module, path, out)
}

// findModule looks for the module of the server from the working directory upwards.
func findModule() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module of Jaeger: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		module := filepath.Join(dir, "integration", "harness", "jaeger", "server")
		_, err := os.Stat(filepath.Join(module, "go.mod"))
		if err == nil {
			return module, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find the module of Jaeger: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no integration/harness/jaeger/server in %s or above: run this inside the repository, or set %s",
				start, URLEnv)
		}
	}
}

// build builds the program under another name first, so that what is there is whole. Two builds at once do no harm.
func build(ctx context.Context, module, path string, out io.Writer) error {
	began := time.Now()
	_, _ = fmt.Fprintln(out, "building Jaeger from its Go module, once: about two minutes ...")
	partial := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(partial) //nolint:errcheck // it is there only if something failed
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", partial, allInOne)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	if text, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("build Jaeger: %w; the last lines of go build:\n%s", err, lastLines(text))
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("build Jaeger: %w", err)
	}
	_, _ = fmt.Fprintf(out, "built in %.0f s\n", time.Since(began).Seconds())
	return nil
}

// lastLines are the last lines of an output, indented, for an error.
func lastLines(text []byte) string {
	const limit = 10
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "    (no output)"
	}
	lines := strings.Split(string(text), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-limit):], "\n    ")
}
