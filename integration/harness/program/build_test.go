package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// Tests of several packages, and make, want a program at the same time: one of them builds it, and the others wait for
// that.
func TestOneBuilds(t *testing.T) {
	root := t.TempDir()
	t.Setenv(cluster.HomeEnv, filepath.Join(root, "home"))
	t.Chdir(root)
	for name, text := range map[string]string{
		"go.mod": "module hello\n", "go.sum": "", "main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
	} {
		if err := os.MkdirAll("hello", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("hello", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := Program{Name: "Hello", Package: "hello", Folder: "hello", Takes: "a second"}
	var out lines
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			path, err := p.Binary(t.Context(), &out)
			if err == nil {
				_, err = os.Stat(path)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(out.text, "building"); n != 1 {
		t.Errorf("%d builds: %s", n, out.text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Binary(ctx, &out); err != nil { // it is there
		t.Error(err)
	}
}

// lines is a writer for several goroutines.
type lines struct {
	mu   sync.Mutex
	text string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(p)
	return len(p), nil
}
