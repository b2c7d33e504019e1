// Package hooks passes on what happens to tools and sessions, after it has happened, without holding anything up.
package hooks
