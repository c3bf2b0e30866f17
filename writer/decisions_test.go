package writer

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/layout"
)

// kinds are the names of kinds of decision.
var kinds = []string{"Versioned", "Transactional", "Compared"}

// Only decisions.go knows the kinds of decision: what one kind does is in its package. Outside of comments no other
// file names one, but for those here.
func TestKindsAreNamedInOneFile(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"decisions.go":             "the table of kinds",
		"../reader/transaction.go": "reader.Transaction is for sets of this kind alone",
		"../reconcile/adopt.go":    "Adopt gives rows their first stamp, or version",
		"../reconcile/settle.go":   "a version says for how long a difference may be a write in flight",
		"../reconcile/digest.go":   "a method of layout that compares values",
	}
	word := regexp.MustCompile(`\b(` + strings.Join(kinds, "|") + `)\b`)
	var all []string
	for _, pattern := range []string{"*.go", "../reader/*.go", "../reconcile/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	used := make(map[string]bool)
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s scanner.Scanner
		files := token.NewFileSet()
		s.Init(files.AddFile(file, -1, len(source)), source, nil, 0) // which leaves comments out
		for {
			at, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			if !word.MatchString(text) {
				continue
			}
			used[file] = true
			if allowed[file] == "" {
				t.Errorf("%s: %s names a kind of decision", files.Position(at), text)
			}
		}
	}
	for file := range allowed {
		if !used[file] {
			t.Errorf("%s names no kind of decision: take it off the list", file)
		}
	}
}

// A kind of decision has a protocol, a folder that the linter guards, and a word that TestKindsAreNamedInOneFile looks
// for.
func TestKinds(t *testing.T) {
	t.Parallel()
	count := 0
	for by := layout.Compared; !strings.HasPrefix(by.String(), "Decided("); by++ {
		if _, err := protocolOf(by); err != nil {
			t.Error(err)
		}
		count++
	}
	if count != len(kinds) || len(protocols) != len(kinds) {
		t.Errorf("%d kinds, %d protocols and %d words", count, len(protocols), len(kinds))
	}
	linters, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("../internal/decide/*/")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		if !strings.Contains(string(linters), "{pkg: github.com/denorm-go/denorm/internal/decide/"+filepath.Base(folder)+
			",") {
			t.Errorf(".golangci.yml does not guard %s", folder)
		}
	}
}
