// Command denorm reviews, draws and writes the schema of Cassandra tables: of CQL files or of a live cluster.
//
//	denorm lint schema.cql
//	denorm lint --hosts 10.0.0.1 --keyspace shop queries.cql
//	denorm diagram --hosts 10.0.0.1 --keyspace shop > shop.svg
//	denorm ddl --hosts 10.0.0.1 --keyspace shop
//	denorm ddl --hosts 10.0.0.1 --keyspace shop --migrate schema.cql
//	denorm apply --hosts 10.0.0.1 reviewed.cql
//
// It also lists the runs of verify, repair and backfill that a service's own binary has stored, and changes those under
// way:
//
//	denorm runs --hosts 10.0.0.1 --state shop
//	denorm pause RUN --hosts 10.0.0.1 --state shop
//
// A user name is given with --username, its password in DENORM_PASSWORD. Both are sent over TLS only, unless
// --plaintext-credentials says otherwise: --tls verifies the nodes against the authorities of the system, --tls-ca
// against a file's, and --tls-cert with --tls-key is the certificate of this client.
//
// Exit codes: 0 fine, 1 something was found, 2 it could not be done. Package command has the same commands for a
// binary of one's own, in which the declared sets are known.
package main

import (
	"fmt"
	"os"

	"github.com/denorm-go/denorm/cmd/denorm/command"
)

func main() { os.Exit(run()) }

// run leaves signals to what they do by default, as no command here has anything to end: caught, they would not end one
// that waits for a file, or for a node to connect to.
func run() int {
	err := command.New().Execute()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "denorm:", err)
	}
	return command.ExitCode(err)
}
