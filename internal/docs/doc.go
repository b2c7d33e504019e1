// Package docs holds the documents to the code. It has no code to import, only tests:
//
//   - the SQL of schema/FORMAT.md lists trees and finds bytes just as package vfs does;
//   - the session, the program and the configuration in README.md work, and work again;
//   - the session in BRANCHES.md, from two attempts to an undo, works;
//   - the session in REVIEW.md, from a diff to git, works;
//   - the recording of the tour is what the tour prints;
//   - links lead somewhere, and the tests, the paths and the names that the pages have exist;
//   - sentences of LIMITS.md that no other test holds are true;
//   - rehome gives a copy of the module a home.
package docs
