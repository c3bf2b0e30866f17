// Package tracing reports logical writes to OpenTelemetry, as spans and metrics ([New]), and to log/slog ([Slog]). A
// session takes one tracer; [Multi] combines several into one.
//
//	s, err := session.Open(cluster,
//		session.Trace(tracing.New(tracing.WithTracerProvider(tp), tracing.WithMeterProvider(mp))))
//
// The package has no global state: providers come from options only. Without [WithTracerProvider] there are no spans,
// without [WithMeterProvider] no metrics. Without both, the tracer does and allocates nothing. To use the global
// providers of OpenTelemetry, pass them: tracing.WithTracerProvider(otel.GetTracerProvider()).
//
// Names and units follow the OpenTelemetry semantic conventions 1.43.0: the stable ones for database clients, and the
// ones for Cassandra, which have status Development. Other names begin with denorm.
//
// # Spans
//
// A logical write is a span of kind INTERNAL, named by its op, such as createOrder. It has a child span of kind CLIENT
// for each request, named by its summary, such as "INSERT orders_by_user". A request carries one or more mutations. Its
// span covers its attempts and the waits between them. It has an event named "retry" for each attempt that failed and
// was followed by another.
//
// The writes of a Modify have a parent span of kind INTERNAL, named "Modify" and the op, with denorm.op, denorm.rounds
// and denorm.outcome. denorm.rounds counts the calls of the function that changes the row: 1, and 1 more after each
// conflict; 0 if no row was read. The read of a Modify has a span of kind CLIENT below it, such as "SELECT
// orders_by_id". A Load has only such a span, below the caller's.
//
// The conventions describe a call to a database. Its span has db.system.name, and its kind is CLIENT, or INTERNAL for a
// database in the memory of the process. A logical write is not such a call; it consists of several. Backends count
// spans of kind CLIENT as calls, and some count any span with a database attribute, whatever its kind. Therefore spans
// of kind INTERNAL have no attribute that begins with db., cassandra., server. or network.: only requests have these.
// The keyspace and the tables of a write or read are denorm.keyspace and denorm.tables.
//
// A group of requests ([writer.Group]) is one span of kind CLIENT. It has the partitions in denorm.partitions, the
// tables in denorm.tables and the outcome of each table in denorm.tables.outcomes. If the group fails, the requests
// that continue alone have their own spans after it.
//
// The span of a Resume has a link to the span of the write that it finishes. The error of the write contains its
// traceparent, also when the error is stored.
//
// If the driver ignores the end of the context, the call does not wait for the driver: the request is a straggler. Its
// span ends when the driver returns, after the span of the write, with the result of the request by then. It does not
// change the write. If the tracer provider is shut down before that, the span is lost.
//
//	createOrder                        INTERNAL  denorm.mode=fan-out denorm.outcome=applied denorm.attempts=4
//	├── INSERT orders_by_id            CLIENT    denorm.attempts=1
//	├── INSERT orders_by_user          CLIENT    denorm.attempts=2
//	│      retry                         error.type=write_timeout.simple denorm.retry.wait_ms=12.4
//	└── INSERT orders_by_status        CLIENT    denorm.attempts=1
//
// denorm.outcome of a request is a [writer.Outcome]: applied, unknown, not applied, pending; or conflict, if it is a
// transaction whose condition did not hold. denorm.outcome of a write follows [writer.OutcomeOf]. The table shows for
// each outcome the level of its log line ([Slog]) and the status of its span:
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
// A Modify has two more outcomes, at level info and with status unset. They are "not found" ([writer.ErrNotFound]), and
// declined: the function that changes the row returned an error. A Modify ends with conflict if that was not resolved
// in time: its span has status Error, and its line has level warn.
//
// Outcomes that a service has to expect when all is well are at level info. A write that is not applied is lost to one
// caller, who was told. An unknown, partial or expired write leaves tables that differ until somebody acts.
//
// [ContextWithAttributes] adds attributes of one call to its span.
//
// Attributes that are known when a span starts are set at the start, so that samplers can use them. Outcome, attempts,
// errors and coordinator, for example, are known only at the end of a write.
//
// # Errors
//
// Error texts are never recorded, because servers and drivers quote values in them. error.type is the reason of package
// retry, such as unavailable or write_timeout.batch_log: some sixty values that do not change. The caller gets the
// complete error.
//
// # Metrics
//
//	db.client.operation.duration  requests, with their retries
//	denorm.write.duration         logical writes, by mode and outcome
//	denorm.read.duration          reads
//	denorm.read.unconfirmed       rows that queries with Confirm left out, as their base rows do not confirm them
//	denorm.retries                attempts that were followed by another
//	denorm.retry.rejections       requests that were given up because the retry budget was spent: an outage
//	denorm.stragglers             requests that had not ended when the call did
//	denorm.outcomes               tables of writes, by what is known of them
//
// Their attributes are names and enumerations, never values. An instrument has at most 1000 different attribute sets
// ([WithMaxSeries]). A service with a keyspace for each tenant should leave db.namespace out
// ([WithoutMetricNamespace]).
//
// # Reads
//
// A read has a span of kind INTERNAL named by its op, from the first row to the last. It includes the time that the
// caller spends between rows. Each partition that was read has a child span of kind CLIENT, until its last page, named
// by its query summary: SELECT and the table. The reads of base rows that confirm a page have a span below the span of
// the partition. Retries are events, as for requests.
//
// # Reference
//
// docs/ref/telemetry.md in the repository lists the names that begin with denorm., the attributes of metrics, and the
// log lines.
package tracing
