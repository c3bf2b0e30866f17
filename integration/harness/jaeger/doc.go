// Package jaeger runs the real Jaeger for tests and demos.
//
// # Where it comes from
//
// With a container engine docker-compose.yml has it, with its web page:
//
//	docker compose up --detach --wait jaeger
//	export DENORM_JAEGER_URL=http://127.0.0.1:16686
//
// Without one [Start] builds the same release from its Go module (server/go.mod), which takes about two minutes and is
// done once: the program is kept in the directory of the cluster harness. It is complete but for the web page, which is
// not in the module; the HTTP API is. It listens on loopback, holds traces in memory, and ends with whoever started it,
// even if that is killed.
//
// # In tests
//
// [Serve] is all that a test needs. It takes the server that DENORM_JAEGER_URL names, or starts one.
//
// The package works on Linux and macOS.
package jaeger
