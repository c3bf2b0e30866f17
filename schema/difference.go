package schema

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/printable"
)

// Difference is one difference between a live schema and the declared one.
type Difference struct {
	Keyspace string
	Table    string // or type, index, view; empty if the keyspace as a whole is meant
	Column   string // empty if the table as a whole is meant
	Reason   string
	// Fix is the statement that makes the live schema match the declaration. It is for a person to read and to run. It is
	// empty if no statement does that; Impossible then says why, and what to do instead.
	Fix        string
	Impossible string
	// Destroys says that Fix loses data.
	Destroys bool
	// Extra says that the cluster has more than is declared, or options that the declaration leaves to the cluster, and
	// that this hurts nothing declared. An example is a column of the next release.
	Extra bool
	// Begun says that Fix is for a Since that has begun. Fix is right only if all rows from that time on were written with
	// the Since.
	Begun bool
	// Note says that nothing is wrong. The table may lack the fingerprint of its declaration, or have one of an older or
	// newer process. Rows may have a default_time_to_live where ExpiresAt gives none, or writes of a set may not fill a
	// column. Or Server is set: the server is not Apache Cassandra.
	Note bool
	// Server is the name of a server that is not Apache Cassandra, such as Amazon Keyspaces. Nothing was tested there. It
	// is empty in all other differences.
	Server string

	absent      bool   // what is declared does not exist
	option      string // that the declaration leaves to the cluster
	endsExpiry  bool   // Fix makes rows stay that vanish now
	unversioned bool   // the table is of a Versioned set, and the set at hand is not: there is no more to say of its tables
}

// String returns the difference for people to read. Unprintable characters are written as escapes, so no terminal
// interprets them.
func (d Difference) String() string {
	text := printable.Line(d.where(": column ") + ": " + d.Reason)
	switch {
	case d.Fix != "":
		return text + "\n\t\tfix: " + strings.ReplaceAll(printable.Lines(d.Fix), "\n", "\n\t\t") + ";"
	case d.Impossible != "":
		return text + "\n\t\tno statement fixes it: " + printable.Line(d.Impossible)
	}
	return text
}

// where is what the difference is of, with the words before the name of a column.
func (d Difference) where(column string) string {
	where := "keyspace " + d.Keyspace
	if d.Table != "" {
		where = ID{d.Keyspace, d.Table}.String()
	}
	if d.Column != "" {
		where += column + cql.Quote(d.Column)
	}
	return where
}

// DifferenceError is returned by [Validate] and [Ensure] if live tables are not as declared. It names every difference.
type DifferenceError struct{ Differences []Difference }

func (e *DifferenceError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schema: %d difference(s) between declared and live", len(e.Differences))
	for _, d := range e.Differences {
		b.WriteString("\n\t" + d.String())
	}
	return b.String()
}

// Migration returns the statements that fix the differences, as text for review, in the order in which the differences
// were found. This package never runs it. Statements are commented out if they lose data, if they are of a
// [Difference.Extra], or if they end a default_time_to_live that is not declared. Differences that no statement can fix
// are described. The statement of a [Difference.Note] is included, commented out if it is for a Since that has begun.
func Migration(differences []Difference) string {
	var b strings.Builder
	for i, d := range differences {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(comment(d.where(", column ") + ": " + d.Reason + "."))
		switch {
		case d.Fix == "" && d.Impossible == "": // there is only something to know
		case d.Fix == "":
			b.WriteString(comment("No statement fixes it: " + d.Impossible + "."))
		case d.Destroys:
			b.WriteString(commentedOut("This would lose data", d.Fix))
		case d.endsExpiry:
			b.WriteString(commentedOut("Only if rows that are written from now on shall stay", d.Fix))
		case d.Begun:
			b.WriteString(commentedOut("Only if no process without the Since has written a row of since then", d.Fix))
		case d.Extra:
			b.WriteString(commentedOut("Not declared. Only if no query or service needs what is there", d.Fix))
		case printable.Commands(d.Fix):
			b.WriteString(commentedOut("A part of this is a command to a CI service that prints it", d.Fix))
		case marksComment(d.Fix):
			b.WriteString(commentedOut("cqlsh would take a part of this for a comment, run it with another client", d.Fix))
		default:
			b.WriteString(d.Fix + ";\n")
		}
	}
	return b.String()
}

func comment(text string) string { return ast.CommentLine(text) }

// commentedOut is a statement as comment, and why it is one. A reader who runs it after all has to know if it is not
// spelled as it must be.
func commentedOut(why, statement string) string {
	if comment(statement) != "-- "+statement+"\n" {
		why += " (what a comment cannot hold is written with a backslash)"
	}
	return comment(why+":") + comment(statement+";")
}

// marksComment says whether a statement has /* or */ in its names or texts. CQL knows no comment between quotes, but
// cqlsh does.
func marksComment(statement string) bool {
	return strings.Contains(statement, "/*") || strings.Contains(statement, "*/")
}
