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

// What denorm says of SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0), which code review tools show at the lines of
// a file. A package for it would be in the build list of every service; integration/suite/schema checks the output with one.
type (
	sarifReport struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string       `json:"id"`
		Name                 string       `json:"name"`
		ShortDescription     sarifMessage `json:"shortDescription"`
		HelpURI              string       `json:"helpUri"`
		DefaultConfiguration struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	sarifLogical struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// writeSARIF writes a report of one run.
func writeSARIF(out io.Writer, found []lint.Finding, _ colours) error {
	run := sarifRun{Results: []sarifResult{}}
	driver := &run.Tool.Driver
	driver.Name, driver.InformationURI = "denorm", home
	if v := version(); v != "(devel)" {
		driver.Version = v
	}
	index := make(map[string]int)
	for i, r := range lint.Rules() {
		index[r.Code] = i
		rule := sarifRule{ID: r.Code, Name: r.Name, ShortDescription: sarifMessage{r.Doc}, HelpURI: home + "/blob/main/docs/lint.md#" + r.Name}
		rule.DefaultConfiguration.Level = r.Severity.String()
		driver.Rules = append(driver.Rules, rule)
	}
	for _, f := range found {
		run.Results = append(run.Results, sarifOf(f, index[f.Code]))
	}
	return writeIndented(out, sarifReport{
		Schema:  "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

// uriOf is a file as a reference: relative to where the command runs, as code scanning wants it, unless the file is outside of that.
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

// plain escapes what a message has for links and arguments (SARIF 2.1.0, 3.11.5 and 3.11.6): names are of whoever wrote the CQL.
var plain = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `{{`, `}`, `}}`)

// sarifOf is the result of a finding. One in a live cluster has its table as a logical location only.
func sarifOf(f lint.Finding, rule int) sarifResult {
	end := ". "
	if strings.HasSuffix(f.Reason, "?") { // it asks what was meant
		end = " "
	}
	text := f.Table.String() + ": " + f.Reason + end + "Fix: " + f.Fix + "."
	if f.Query != "" {
		text += " Query: " + f.Query
	}
	location := sarifLocation{Logical: []sarifLogical{{Name: f.Table.Name, FullyQualifiedName: f.Table.String(), Kind: "type"}}}
	if f.At.Line > 0 {
		location.Physical = new(sarifPhysical)
		location.Physical.Artifact.URI, location.Physical.Region.StartLine = uriOf(f.At.File), f.At.Line
	}
	result := sarifResult{
		RuleID: f.Code, RuleIndex: rule, Level: f.Severity.String(), Message: sarifMessage{plain.Replace(text)}, Locations: []sarifLocation{location},
	}
	if f.Suppressed != "" {
		result.Suppressions = []sarifSuppression{{"inSource", f.Suppressed}}
	}
	return result
}
