package main

import (
	"fmt"
	"runtime"
	"strings"
)

func (b *reconcileBench) report(list []*tableReader, hosts int) string {
	var rows strings.Builder
	for _, c := range list {
		if len(c.rows) > 0 {
			fmt.Fprintf(&rows, "| %s | %d | %s | %s | %s |\n", c.name, len(c.rows), c.rows.cell("%.0f"), c.relative.cell("%.2f x"), c.live.cell("%.0f MB"))
		}
	}
	return fmt.Sprintf(`# Verify compared with a scan by hand

%d orders in three tables, by id, by user and by status, which agree, at LOCAL_QUORUM on %d real Cassandra nodes on this machine.
All contenders read all rows of all tables by ranges of tokens, at most %d requests at a time. Contenders take turns in random
order; medians over the rounds, in brackets the smallest and the largest. Client and servers share %d cores, with whatever else
the machine did: compare the lines with each other, not with another run.

"Scan by hand" is what a service would write: gocql, 5000 rows a page, the columns of the rows and nothing else, which are decoded
and forgotten. It compares nothing. The second line also asks for the WRITETIME of each column and the TTL, without which nobody
can say which of two rows is newer, as Verify does. With "Lookup" the counterparts of each row are looked up one by one. The heap is
what was live after a collection, the most in a round.

| all rows of all tables | rounds | rows a second | of the scan by hand | live heap |
| --- | --- | --- | --- | --- |
%s
%s`, b.orders, hosts, inFlight, runtime.NumCPU(), rows.String(), written("reconcilebench"))
}
