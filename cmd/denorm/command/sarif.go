package command

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema/lint"
)

const home = "https://github.com/denorm-go/denorm"

// writeSARIF writes SARIF 2.1.0, which code review tools show at the lines of a file. A finding in a live cluster has its
// table as a logical location only.
func writeSARIF(out io.Writer, found []lint.Finding, _ colours) error {
	var b strings.Builder
	if err := sarifReport(found).PrettyWrite(&b); err != nil {
		return err
	}
	_, err := io.WriteString(out, printable.JSON(b.String()))
	return err
}

func sarifReport(found []lint.Finding) *sarif.Report {
	report := sarif.NewReport()
	run := sarif.NewRunWithInformationURI("denorm", home)
	report.AddRun(run)
	for _, r := range lint.Rules() {
		run.AddRule(r.Code).WithName(r.Name).
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(r.Doc)).
			WithHelpURI(home + "/blob/main/docs/lint.md#" + r.Name).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(r.Severity.String()))
	}
	for _, f := range found {
		text := f.Table.String() + ": " + f.Reason + ". Mend: " + f.Mend + "."
		if f.Query != "" {
			text += " Query: " + f.Query
		}
		location := sarif.NewLocation().WithLogicalLocations([]*sarif.LogicalLocation{
			sarif.NewLogicalLocation().WithName(f.Table.Name).WithFullyQualifiedName(f.Table.String()).WithKind("type"),
		})
		if f.At.Line > 0 {
			location.WithPhysicalLocation(sarif.NewPhysicalLocation().
				WithArtifactLocation(sarif.NewSimpleArtifactLocation(filepath.ToSlash(f.At.File))).
				WithRegion(sarif.NewSimpleRegion(f.At.Line, f.At.Line)))
		}
		result := run.CreateResultForRule(f.Code).WithLevel(f.Severity.String()).WithMessage(sarif.NewTextMessage(text)).AddLocation(location)
		if f.Suppressed != "" {
			result.AddSuppression(sarif.NewSuppression().WithKind("inSource").WithJustification(f.Suppressed))
		}
	}
	return report
}
