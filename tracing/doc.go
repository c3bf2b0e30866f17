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
// A logical write is a span named by its op, such as createOrder. It has a child for each request,
// which carries one or more mutations, named by its summary, such as "INSERT orders_by_user". A request's span covers its
// attempts and the waits between them, and has an event named "retry" for each attempt that failed and was followed by
// another. All are of kind CLIENT: the library is the client of the database, and the conventions ask for a span of
// what the caller sees, retries included.
//
// Around the writes of a Modify is a span named "Modify" and the op, of kind INTERNAL, with denorm.op, denorm.rounds and
// denorm.outcome. Its rounds are the calls of the function that changes the row: one more than the conflicts after which
// it began again, and 0 if no row was read.
//
// Where the driver does not look at the context, a call does not wait for it: the request is a straggler. Its span ends
// when the driver returns, after that of the write, and with what came of it then. Nothing of the write changes with it.
// If the tracer provider is shut down before, the span is lost.
//
//	createOrder                        CLIENT  denorm.mode=fan-out denorm.outcome=applied denorm.attempts=4
//	├── INSERT orders_by_id            CLIENT  denorm.attempts=1
//	├── INSERT orders_by_user          CLIENT  denorm.attempts=2
//	│      retry                       error.type=write_timeout.simple denorm.retry.wait_ms=12.4
//	└── INSERT orders_by_status        CLIENT  denorm.attempts=1
//
// Attributes (W: span of the write, P: of a request, R: retry event):
//
//	name                          on   value
//	db.system.name                W P  cassandra
//	db.namespace                  W P  keyspace; of a batch over several the first; of a write only if all requests agree
//	db.collection.name            W P  table, if there is only one
//	db.operation.name             W P  W: the op. P: INSERT, UPDATE or DELETE; "BATCH INSERT", or BATCH if they differ
//	db.operation.batch.size         P  statements, from two on
//	db.query.summary              W P  W: the op. P: "INSERT orders_by_user"; "BATCH INSERT orders_by_user", or BATCH
//	db.query.text                   P  statements joined by "; ", with ? for every value; only by WithStatementText
//	db.response.status_code         PR error code of the native protocol as its specification prints it: 0x1100; absent
//	                                   if two requests of a hedged attempt were answered with different ones
//	error.type                    W PR see Errors; absent if there was none
//	server.address, server.port     PR the coordinator of the last attempt, or of the one that failed; of a hedged
//	                                   attempt the one that was heard last
//	network.peer.address, .port     PR the same: the driver knows nodes by address
//	cassandra.coordinator.id, .dc   PR
//	cassandra.consistency.level     P  such as local_quorum
//	denorm.op                     W P  the op
//	denorm.mode                   W P  single, same-partition, fan-out, logged-batch, fallback, conditional, counter;
//	                                   none if nothing was sent
//	denorm.outcome                W P  see below
//	denorm.attempts               W P  attempts of this call; a write's are those of all its requests
//	denorm.tables                 W P  tables that something was sent to; those of a write in alphabetical order
//	denorm.tables.open            W    of a failed write: the tables that are not known to have it
//	denorm.paths                  W    requests the write was planned in
//	denorm.counters               W    requests of counters among them, if there are any
//	denorm.changes                W    entities that change; absent if it is a Resume
//	denorm.resume                 W    true if it is a Resume; absent otherwise
//	denorm.stragglers             W    requests that had not ended when the call did; absent if there were none
//	denorm.retry.rejected            P  true if another attempt was due but the retry budget was spent; absent otherwise
//	denorm.retry.attempt           R   number of the attempt that failed, from 1
//	denorm.retry.class             R   what is known of it: unknown, safe, permanent, pending, decided
//	denorm.retry.wait_ms           R   milliseconds until the next attempt, as a floating-point number
//
// denorm.outcome of a request is a [writer.Outcome]: applied, unknown, not applied, pending; or conflict, if it is a transaction
// whose condition did not hold. That of a write follows [writer.OutcomeOf]; with each the level of its line in a log ([Slog])
// and the status of its span:
//
//	outcome      of                                                                          level  status
//	applied      every table has acknowledged it                                             debug  unset
//	conflict     another writer came first, and nothing was applied: writer.ErrConflict      info   unset
//	taken        another entity has a Unique key: writer.ErrTaken                            info   unset
//	rejected      the call or a row is not valid, and nothing was sent: writer.ErrInvalid     info   error
//	not applied  no table has it                                                             warn   error
//	unknown      some table is unknown or pending, whatever else is known                    error  error
//	partial      some table has it, and the others have not                                  error  error
//	expired      too old to be resumed: writer.ErrExpired                                    error  error
//
// Beside them a Modify has, at level info and with status unset, "not found" ([writer.ErrNotFound]) and declined (the function
// that changes the row returned an error). A conflict that a Modify ends with was not resolved in time: its span has the status
// Error, and its line the level warn.
//
// What a service has to expect when all is well is information. A write that is not applied is lost to one caller, who was
// told. What is unknown, partial or expired leaves tables that differ until somebody does something.
//
// What is known when a span starts is given at the start, so that samplers can decide by it: all but outcome, attempts,
// errors, coordinator and what else of a write shows only in the end.
//
// # Errors
//
// A write or request that failed, other than by a conflict, has the status Error, described by outcome and error.type, and
// nothing else. Texts of errors are never recorded: servers and drivers quote values in them. Neither is the error recorded
// as an exception event, which the conventions no longer recommend, and which would hold the text. Timestamps are not
// recorded either, as they are bound to every statement. The caller has the error, with all of it.
//
// error.type is the reason of package retry, such as unavailable, write_timeout.batch_log, attempt_timeout or
// connection_closed: some sixty values that do not change. A write has that of its requests; several if they differ;
// denorm.invalid or denorm.expired if the library rejected it; denorm.conflict if it met a conflict that an earlier attempt of its
// own may have caused; _OTHER if there is none. What has the status unset has no error.type, in metrics too. Of a straggler
// it counts why the call did not wait longer: deadline_exceeded or canceled. A request that was given up because the retry
// budget was spent has the reason of its last failure.
//
// # Metrics
//
//	name                          kind       unit     attributes
//	db.client.operation.duration  histogram  s        db.system.name, db.namespace, db.collection.name, db.operation.name,
//	                                                  db.query.summary, db.response.status_code, error.type, denorm.op
//	denorm.write.duration         histogram  s        db.system.name, denorm.op, denorm.mode, denorm.outcome, error.type
//	denorm.retries                counter    {retry}  db.system.name, db.namespace, db.collection.name, denorm.op,
//	                                                  denorm.retry.class, error.type
//	denorm.retry.refusals         counter    {path}   db.system.name, db.namespace, db.collection.name, denorm.op,
//	                                                  error.type
//	denorm.stragglers             counter    {path}   db.system.name, denorm.op
//	denorm.outcomes               counter    {table}  db.system.name, db.namespace, db.collection.name, denorm.op,
//	                                                  denorm.outcome
//
// db.client.operation.duration is recorded once for a request, with its retries, as the request's span; of a straggler when
// it ends. denorm.write.duration is recorded once for a logical write, so its count is the number of writes by
// outcome. Both have the conventional buckets: 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5 and 10 seconds. denorm.retries
// counts attempts that were followed by another, denorm.retry.refusals requests that were given up because the retry budget
// was spent, by their last failure; a hedge that the budget did not allow is not one. denorm.stragglers counts requests
// that had not ended when the call did. denorm.outcomes counts the tables of each write by what is
// known of them when it ends, whatever comes of a straggler later; a Resume counts again those that it was to finish. A
// write that was rejected has no tables.
//
// There is no instrument for conflicts: they are the writes with the outcome conflict or taken.
//
// # Reads
//
// A Tracer is one for [reader.Trace], too. A read has a span named by its op, from the first row to the last, so with what the
// caller does meanwhile; below it, each partition that was asked has one named by its query summary, SELECT and the table,
// until its last page. Retries are events as of requests. Alongside the attributes above:
//
//	denorm.partitions  read       partitions of the query; not all need have been asked
//	denorm.rows        both       rows given; of a partition rows fetched
//	denorm.limit       read       the limit; absent if there is none
//	denorm.continued   read       true if it continues at a token; absent otherwise
//	denorm.partition   partition  its number in the order of the query, from 1
//	denorm.bucket      partition  the derived columns of its key, such as "hour 2024-01-31-15, bucket 7"; absent if there is none
//	denorm.pages       partition  pages fetched
//
// The bucket is the only value in a trace, see [reader.Error]. denorm.read.duration, a histogram in seconds with the same
// buckets as the others, counts reads by db.system.name, db.namespace, db.collection.name (as declared), denorm.op and
// error.type, which is denorm.invalid for a query that was rejected. Retries and refusals are counted with those of writes.
//
// # Cardinality
//
// Attributes of metrics are names and enumerations, never values, coordinators or errors' texts. The names are
// keyspaces, tables and the op, which the service chooses and which must not contain ids. An instrument has at most 1000
// different sets of attributes ([WithMaxSeries]), half of what the SDK allows; whatever comes after them is recorded
// with _OTHER in place of op, keyspace, table and summary and without the status code. That leaves only enumerations:
// seven operations, five classes, some sixty error types, seven modes and nine outcomes, of which no instrument has more
// than three. A service with a keyspace for each tenant leaves db.namespace out ([WithoutMetricNamespace]).
//
// # Cost
//
// Attributes known at the start are made once for each op and statement, and kept. What belongs to one write is
// made only if its span records. Allocations of a write of three requests, as the tests hold them: none without providers;
// 4 with a tracer provider that does nothing and 12 if the SDK's sampler drops the trace, all in OpenTelemetry; 4 with
// metrics alone, one for the write and one for each request; about 60 if the spans are recorded, most of them the SDK's.
package tracing
