package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The notes of a release are the section of its version, each paragraph on one line and its links into the tag.
func TestReleaseNotes(t *testing.T) {
	t.Parallel()
	const head = "# Changelog\n\nAll notable changes.\n\n## Unreleased\n\n- later\n\n"
	for name, test := range map[string]struct{ text, notes, failure string }{
		"the newest": {
			text:  head + "## 0.2.0 - 2026-12-01\n\n### New\n\n- one\n- two\n\n## 0.1.0 - 2026-11-01\n\n- old\n",
			notes: "### New\n\n- one\n- two\n",
		},
		"the oldest":  {text: head + "## 0.3.0 - 2026-12-01\n\n- new\n\n## 0.2.0 - 2026-11-01\n\n- one\n", notes: "- one\n"},
		"a paragraph": {text: head + "## 0.2.0 - 2026-12-01\n- one\n  `two`\n  three\n\nfour\nfive\n", notes: "- one `two` three\n\nfour five\n"},
		"code":        {text: head + "## 0.2.0 - 2026-12-01\n\n```sh\ngo get\n  it\n```\n", notes: "```sh\ngo get\n  it\n```\n"},
		"links": {
			text:  head + "## 0.2.0 - 2026-12-01\n\n[a](docs/a.md#b) [c](https://d.org/e) [f](#g)\n",
			notes: "[a](https://github.com/denorm-go/denorm/blob/v0.2.0/docs/a.md#b) [c](https://d.org/e) [f](#g)\n",
		},
		"no section":        {text: head + "## 0.1.0 - 2026-11-01\n\n- old\n", failure: `no section of version 0.2.0: write "## 0.2.0 - YYYY-MM-DD" below`},
		"a longer version":  {text: head + "## 0.2.0-rc.1 - 2026-11-01\n\n- old\n", failure: "no section of version 0.2.0"},
		"no text":           {text: head + "## 0.2.0 - 2026-12-01\n\n### New\n\n## 0.1.0 - 2026-11-01\n\n- old\n", failure: "the section of version 0.2.0 has no text"},
		"no date":           {text: head + "## 0.2.0\n\n- one\n", failure: `line 9: "## 0.2.0" has no date`},
		"another date":      {text: head + "## 0.2.0 - 1 December 2026\n\n- one\n", failure: "has no date"},
		"two sections":      {text: head + "## 0.2.0 - 2026-12-01\n\n- one\n\n## 0.2.0 - 2026-12-02\n\n- two\n", failure: "line 13: a second section"},
		"no Unreleased":     {text: "# Changelog\n\n## 0.2.0 - 2026-12-01\n\n- one\n", failure: `"## Unreleased" is not above version 0.2.0`},
		"Unreleased, below": {text: "## 0.2.0 - 2026-12-01\n\n- one\n\n## Unreleased\n\n- later\n", failure: `"## Unreleased" is not above version 0.2.0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "CHANGELOG.md")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr strings.Builder
			c := exec.CommandContext(t.Context(), "../../../internal/tools/notes.sh", "v0.2.0", file)
			c.Stdout, c.Stderr = &stdout, &stderr
			err := c.Run()
			if (err != nil) != (test.failure != "") || !strings.Contains(stderr.String(), test.failure) || stdout.String() != test.notes {
				t.Errorf("%v\n%s\n%s", err, &stderr, &stdout)
			}
		})
	}
	out, err := exec.CommandContext(t.Context(), "../../../internal/tools/notes.sh", "0.2.0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `version "0.2.0": give a tag`) {
		t.Errorf("a version that is no tag: %v\n%s", err, out)
	}
}
