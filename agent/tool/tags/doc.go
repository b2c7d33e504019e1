// Package tags puts tags around content of the store in results. The tags mark the text inside as data, which a model
// must not follow. Nothing inside can pass for a tag, in whatever letters it is written.
package tags
