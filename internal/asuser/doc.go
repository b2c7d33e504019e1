// Package asuser lets the tests of a package, which root runs, run again as an ordinary user who may mount through FUSE.
package asuser
