// Package docs holds the documents to the code. It has no code to import, only tests:
//
//   - the SQL of schema/FORMAT.md lists trees and finds bytes just as package vfs does;
//   - the Go and the session in README.md are an example and a script that are tested, and the tests that it names
//     exist.
package docs
