package files

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is left of sentences over 25 words and of avoided words. Lower a limit when less is left, and never raise one.
const (
	longInHowTo     = 0 // README.md, docs/*.md
	longInReference = 0
	avoidedInDocs   = 0
	// Of exported names.
	longInComments    = 0
	avoidedInComments = 0
	tooManyLines      = 0
	// Of other names in the same packages.
	longInside    = 105
	avoidedInside = 80
	// Of docs for users: without code, addresses and names of tests.
	mostProse = 155 << 10
)

var avoided = regexp.MustCompile(`\b([Tt]hat of|[Tt]hose of|Nor|is no|is none|anew|[Bb]esides)\b`)

// The texts of the project are read by people who have one question: see CONTRIBUTING.md.
func TestWords(t *testing.T) {
	t.Parallel()
	howTo, reference := pages(t, "README.md", "docs/*.md"), pages(t, "docs/ref/*.md", "docs/why/*.md")
	comments, inside, many := documentation(t)
	maps.DeleteFunc(reference, func(_, text string) bool { return strings.Contains(text, "\nWritten by `") })
	prose := 0
	for _, texts := range []map[string]string{howTo, reference, comments, inside} {
		for path, text := range texts {
			text, _, _ = strings.Cut(text, everyText) // which a test writes
			texts[path] = bare(text)
			if strings.HasPrefix(path, "docs/") && path != "docs/README.md" { // which is an index
				prose += len(texts[path])
			}
		}
	}
	if prose > mostProse {
		t.Errorf("%d bytes of prose in docs, want at most %d", prose, mostProse)
	}
	long := func(sentence string) bool { return len(strings.Fields(sentence)) > 25 }
	avoids := func(part string) bool { return avoided.MatchString(strings.ReplaceAll(part, "here is no", "")) }
	for _, c := range []struct {
		what  string
		limit int
		texts []map[string]string
		parts func(text string) []string
		wrong func(part string) bool
	}{
		{"sentences over 25 words in how-to pages", longInHowTo, []map[string]string{howTo}, sentences, long},
		{"sentences over 25 words in other pages", longInReference, []map[string]string{reference}, sentences, long},
		{"sentences over 25 words in comments", longInComments, []map[string]string{comments}, sentences, long},
		{"avoided words in docs", avoidedInDocs, []map[string]string{howTo, reference}, lines, avoids},
		{"avoided words in comments", avoidedInComments, []map[string]string{comments}, sentences, avoids},
		{"comments of more than 12 lines, or 5 for an option", tooManyLines, []map[string]string{many}, lines, func(part string) bool { return part != "" }},
		{"sentences over 25 words in comments inside", longInside, []map[string]string{inside}, sentences, long},
		{"avoided words in comments inside", avoidedInside, []map[string]string{inside}, sentences, avoids},
	} {
		var found []string
		for _, texts := range c.texts {
			for path, text := range texts {
				for _, part := range c.parts(text) {
					if c.wrong(part) {
						found = append(found, path+": "+part)
					}
				}
			}
		}
		slices.Sort(found)
		t.Logf("%d %s", len(found), c.what)
		if len(found) > c.limit {
			t.Errorf("%d %s, want at most %d:\n%s", len(found), c.what, c.limit, strings.Join(found, "\n"))
		}
	}
}

const root = "../../.."

// pages reads texts of the repository.
func pages(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[strings.TrimPrefix(path, root+"/")] = string(text)
		}
	}
	return texts
}

// documentation reads the doc comments of packages that users import: of exported names and of packages, and of what is
// inside. Many has the names, a line each, whose comments are longer than somebody reads.
func documentation(t *testing.T) (exported, inside, many map[string]string) {
	t.Helper()
	exported, inside, many = make(map[string]string), make(map[string]string), make(map[string]string)
	for _, dir := range []string{
		"cassandratest", "cmd/denorm/command", "reader", "reconcile", "retry", "schema", "schema/lint", "schema/rotation", "session", "tables",
		"tracing", "writer", "writer/bulk", "writer/explain",
	} {
		for path, text := range pages(t, dir+"/*.go") {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			note := func(name string, public bool, most int, doc *ast.CommentGroup) {
				switch {
				case doc == nil:
				case public:
					exported[path] += doc.Text() + "\n"
					if n := strings.Count(doc.Text(), "\n"); n > most {
						many[path] += fmt.Sprintf("%s: %d lines\n", name, n)
					}
				default:
					inside[path] += doc.Text() + "\n"
				}
			}
			note("package", true, math.MaxInt, file.Doc)
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					most := 12
					if isOption(d) {
						most = 5
					}
					note(d.Name.Name, d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))), most, d.Doc)
				case *ast.GenDecl:
					name, public := "", false
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							name, public = s.Name.Name, s.Name.IsExported()
							note(name, public, 12, s.Doc)
							ast.Inspect(s.Type, func(n ast.Node) bool {
								if f, is := n.(*ast.Field); is && len(f.Names) > 0 {
									note(name+"."+f.Names[0].Name, public && f.Names[0].IsExported(), 12, f.Doc)
								}
								return true
							})
						case *ast.ValueSpec:
							note(s.Names[0].Name, s.Names[0].IsExported(), 12, s.Doc)
							public = public || s.Names[0].IsExported()
						}
					}
					note(name, public, 12, d.Doc)
				}
			}
		}
	}
	return exported, inside, many
}

// isOption says whether a function makes an option.
func isOption(f *ast.FuncDecl) bool {
	if f.Recv != nil || f.Type.Results == nil {
		return false
	}
	of := receiver(f.Type.Results.List[0].Type)
	return of == "Option" || of == "NewOption"
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^\t.*?$")
	address = regexp.MustCompile(`\]\([^)]*\)|(?m:^\[[a-z0-9-]+\]: .*$)`)
	named   = regexp.MustCompile("`Test[A-Z][\\w/]*`")
	apart   = regexp.MustCompile(`(?m)^ *(#|\|).*$|^ *([-*]|\d+\.) `) // headings, tables, items
	span    = regexp.MustCompile("`[^`]*`")
	end     = regexp.MustCompile(`[.!?]["*)”]*\s`)
)

// bare is a text without code, addresses and names of tests.
func bare(text string) string {
	return named.ReplaceAllString(address.ReplaceAllString(fenced.ReplaceAllString(text, ""), "]"), "")
}

// lines are all lines, tables and headings included.
func lines(text string) []string { return strings.Split(text, "\n") }

// sentences are in paragraphs and items of lists, not in tables.
func sentences(text string) (list []string) {
	for paragraph := range strings.SplitSeq(apart.ReplaceAllString(text, "\n\n"), "\n\n") {
		words := strings.Join(strings.Fields(span.ReplaceAllString(paragraph, "x")), " ")
		for words != "" {
			at := end.FindStringIndex(words)
			if at == nil {
				at = []int{0, len(words)}
			}
			list, words = append(list, strings.TrimSpace(words[:at[1]])), words[at[1]:]
		}
	}
	return list
}
