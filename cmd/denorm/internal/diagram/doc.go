// Package diagram draws the tables of a schema: their keys, the queries that read them, their indexes and materialized
// views, what belongs to one entity, and where a row goes when a key column changes. If nothing declares which tables
// belong to one entity, that is guessed from their names, and drawn as a guess.
package diagram
