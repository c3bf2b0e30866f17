// Package diagram draws the tables of a schema: their keys, the queries that read them, their indexes and materialized views, what
// belongs to one entity, and where a row goes when a key column changes. Which tables are of one entity is guessed from their
// names where nothing declares it, and drawn as a guess. Mermaid is for documents that render it, SVG, which has a legend, for all others.
package diagram
