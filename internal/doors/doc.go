// Package doors has the tests of real programs: each script runs on the host, by run in each of its ways, and on a live
// mount. Its output, and the tree that it leaves, have to be the same.
package doors
