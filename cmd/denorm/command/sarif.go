package command

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/denorm-go/denorm/schema/lint"
)

const (
	module = "github.com/denorm-go/denorm"
	home   = "https://" + module
)

// object is an object of JSON.
type object map[string]any

// writeSARIF writes a report of one run in SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0), which code
// review tools show at the lines of a file. A package for it would be in the build list of every service;
// integration/suite/schema checks the output with one.
func writeSARIF(out io.Writer, found []lint.Finding) error {
	index, rules, results := make(map[string]int), []object{}, []object{}
	for i, r := range lint.Rules() {
		index[r.Code] = i
		rules = append(rules, object{
			"id": r.Code, "name": r.Name, "shortDescription": object{"text": r.Doc},
			"helpUri": home + "/blob/main/docs/ref/lint.md#" + r.Name, "defaultConfiguration": object{"level": r.Severity},
		})
	}
	for _, f := range found {
		results = append(results, sarifOf(f, index[f.Code]))
	}
	driver := object{"name": "denorm", "informationUri": home, "rules": rules}
	if v := version(); v != "" && v != "(devel)" {
		driver["version"] = v
	}
	return writeIndented(out, object{
		"$schema": "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json",
		"version": "2.1.0", "runs": []object{{"tool": object{"driver": driver}, "results": results}},
	})
}

// uriOf is a file as a reference: relative to where the command runs, as code scanning wants it, unless the file is
// outside of that.
func uriOf(file string) string {
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if below, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(below) {
			file = below
		}
	}
	path := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		path.Scheme = "file"
	}
	return path.String()
}

// plain escapes what a message has for links and arguments (SARIF 2.1.0, 3.11.5 and 3.11.6): names are of whoever wrote
// the CQL.
var plain = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`)

// sarifOf is the result of a finding. One in a live cluster has its table as a logical location only.
func sarifOf(f lint.Finding, rule int) object {
	end := ". "
	if strings.HasSuffix(f.Reason, "?") { // it asks what was meant
		end = " "
	}
	text := f.Table.String() + ": " + f.Reason + end + "Fix: " + f.Fix + "."
	if f.Query != "" {
		text += " Query: " + f.Query
	}
	table := object{"name": f.Table.Name, "fullyQualifiedName": f.Table.String(), "kind": "type"}
	location := object{"logicalLocations": []object{table}}
	if f.At.Line > 0 {
		location["physicalLocation"] = object{
			"artifactLocation": object{"uri": uriOf(f.At.File)}, "region": object{"startLine": f.At.Line},
		}
	}
	result := object{
		"ruleId": f.Code, "ruleIndex": rule, "level": f.Severity, "message": object{"text": plain.Replace(text)},
		"locations": []object{location},
	}
	if f.Suppressed != "" {
		result["suppressions"] = []object{{"kind": "inSource", "justification": f.Suppressed}}
	}
	return result
}
