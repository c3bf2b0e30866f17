package command

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema/lint"
)

// finding is one of the JSON output.
type finding struct {
	Code       string `json:"code"`
	Rule       string `json:"rule"`
	Severity   string `json:"severity"`
	Keyspace   string `json:"keyspace,omitempty"`
	Table      string `json:"table"`
	Column     string `json:"column,omitempty"`
	Query      string `json:"query,omitempty"`
	Reason     string `json:"reason"`
	Fix        string `json:"fix"`
	Suppressed string `json:"suppressed,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
}

// writeJSON writes {"findings": [...], "counts": {...}}.
func writeJSON(out io.Writer, found []lint.Finding) error {
	report := struct {
		Findings []finding `json:"findings"`
		Counts   counts    `json:"counts"`
	}{findingsJSON(found), count(found)}
	return writeIndented(out, report)
}

func findingsJSON(found []lint.Finding) []finding {
	out := []finding{}
	for _, f := range found {
		out = append(out, finding{
			Code: f.Code, Rule: f.Rule, Severity: f.Severity.String(), Keyspace: f.Table.Keyspace, Table: f.Table.Name, Column: f.Column,
			Query: f.Query, Reason: f.Reason, Fix: f.Fix, Suppressed: f.Suppressed, File: f.At.File, Line: f.At.Line,
		})
	}
	return out
}

// inJSON is a time that JSON can have: of the years 0 to 9999, which a timestamp of a row may be beyond.
func inJSON(t time.Time) time.Time {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	switch t = t.UTC(); {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}

// writeIndented writes a value as JSON for people and for programs.
func writeIndented(out io.Writer, value any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(out, printable.JSON(b.String()))
	return err
}
