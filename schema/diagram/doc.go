// Package diagram draws the tables of a schema: their keys, what belongs to one entity, and where a row goes when a key
// column changes. Mermaid is for documents that render it, SVG for all others.
package diagram
