// Package tracing shows logical writes to OpenTelemetry, as spans and metrics ([New]), and to log/slog ([Slog]). A
// writer takes one tracer; [Multi] makes one of several.
//
//	w, err := writer.New(session,
//		writer.Trace(tracing.New(tracing.WithTracerProvider(tp), tracing.WithMeterProvider(mp))))
//
// The package has no global state: providers come from options alone. Without [WithTracerProvider] there are no spans,
// without [WithMeterProvider] no metrics, and with neither nothing is done and nothing is allocated. Whoever wants the
// global providers of OpenTelemetry says so: tracing.WithTracerProvider(otel.GetTracerProvider()).
//
// Names and units are those of the OpenTelemetry semantic conventions 1.43.0 ([SchemaURL]): the stable conventions of
// database clients, and those of Cassandra, which are published as in development. What they have no name for is under
// denorm.
//
// # Spans
//
// A logical write is a span named by its op, such as createOrder, of kind INTERNAL. It has a child of kind CLIENT for
// each request, which carries one or more mutations, named by its summary, such as "INSERT orders_by_user". A request's
// span covers its attempts and the waits between them, and has an event named "retry" for each attempt that failed and
// was followed by another.
//
// Around the writes of a Modify is a span named "Modify" and the op, of kind INTERNAL, with denorm.op, denorm.rounds
// and denorm.outcome. Its rounds are the calls of the function that changes the row: one more than the conflicts after
// which it began again, and 0 if no row was read.
//
// The conventions describe a call to a database: its span has db.system.name, and its kind is CLIENT, or INTERNAL for a
// database in the memory of the process. A logical write is no such call, it consists of them. Backends count spans of
// kind CLIENT as calls, and some of them count any span with an attribute of a database, whatever its kind. So spans of
// kind INTERNAL have no attribute that begins with db., cassandra., server. or network.: these are on the requests
// alone. The keyspace and the tables of a write or read are denorm.keyspace and denorm.tables.
//
// A group of requests ([writer.Group]) is one span of kind CLIENT, with the partitions in denorm.partitions, the tables in
// denorm.tables and what is known of each in denorm.tables.outcomes. If it fails, the requests that go on alone have spans
// of their own after it.
//
// The span of a Resume has a link to the span of the write that it finishes. The traceparent of the write is in its error,
// also where that is stored.
//
// Where the driver does not look at the context, a call does not wait for it: the request is a straggler. Its span ends
// when the driver returns, after that of the write, and with what came of it then. Nothing of the write changes with
// it. If the tracer provider is shut down before, the span is lost.
//
//	createOrder                        INTERNAL  denorm.mode=fan-out denorm.outcome=applied denorm.attempts=4
//	├── INSERT orders_by_id            CLIENT    denorm.attempts=1
//	├── INSERT orders_by_user          CLIENT    denorm.attempts=2
//	│      retry                         error.type=write_timeout.simple denorm.retry.wait_ms=12.4
//	└── INSERT orders_by_status        CLIENT    denorm.attempts=1
//
// denorm.outcome of a request is a [writer.Outcome]: applied, unknown, not applied, pending; or conflict, if it is a
// transaction whose condition did not hold. That of a write follows [writer.OutcomeOf]; with each the level of its line
// in a log ([Slog]) and the status of its span:
//
//	outcome      of                                                                          level  status
//	applied      every table has acknowledged it                                             debug  unset
//	conflict     another writer came first, and nothing was applied: writer.ErrConflict      info   unset
//	taken        another entity has a Unique key: writer.ErrTaken                            info   unset
//	rejected     writer.Invalid: the call or a row is not valid, and nothing was sent        info   error
//	not applied  no table has it                                                             warn   error
//	unknown      some table is unknown or pending, whatever else is known                    error  error
//	partial      some table has it, and the others have not                                  error  error
//	expired      too old to be resumed: writer.ErrExpired                                    error  error
//
// Besides these a Modify has, at level info and with status unset, "not found" ([writer.ErrNotFound]) and declined (the
// function that changes the row returned an error). A conflict that a Modify ends with was not resolved in time: its
// span has the status Error, and its line the level warn.
//
// What a service has to expect when all is well is information. A write that is not applied is lost to one caller, who
// was told. What is unknown, partial or expired leaves tables that differ until somebody does something.
//
// [ContextWithAttributes] adds attributes of one call to its span.
//
// What is known when a span starts is given at the start, so that samplers can decide by it: all but outcome, attempts,
// errors, coordinator and what else of a write shows only in the end.
//
// # Errors
//
// Texts of errors are never recorded, as servers and drivers quote values in them. error.type is the reason of package
// retry, such as unavailable or write_timeout.batch_log: some sixty values that do not change. The caller has the
// error, with all of it.
//
// # Metrics
//
//	db.client.operation.duration  requests, with their retries
//	denorm.write.duration         logical writes, by mode and outcome
//	denorm.read.duration          reads
//	denorm.read.unconfirmed       rows that queries with Confirm left out, as their base rows do not confirm them
//	denorm.retries                attempts that were followed by another
//	denorm.retry.rejections         requests that were given up because the retry budget was spent: an outage
//	denorm.stragglers             requests that had not ended when the call did
//	denorm.outcomes               tables of writes, by what is known of them
//
// Their attributes are names and enumerations, never values. An instrument has at most 1000 different sets of them
// ([WithMaxSeries]). A service with a keyspace for each tenant leaves db.namespace out ([WithoutMetricNamespace]).
//
// # Reads
//
// A Tracer is one for [reader.Trace], too. A read has a span named by its op, from the first row to the last, so with
// what the caller does meanwhile; below it, each partition that was asked has one named by its query summary, SELECT
// and the table, until its last page. The span of the read is of kind INTERNAL, those of partitions are of kind CLIENT.
// Below the span of a partition, the reads of base rows that confirm a page have one. Retries are events as of requests.
//
// # Reference
//
// docs/tracing.md in the repository lists every attribute of spans, events and metrics, and what is recorded of errors;
// the lines of a log are those of [Slog].
package tracing
