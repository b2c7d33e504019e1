// Package tags fences off what a result shows of the store. The tags tell a model that the text inside is data. Nothing
// inside can pass for a tag, in whatever letters it is written.
package tags
