// Package zipped reads and writes zips as if they were tars, entry by entry, so that one import and one export do for both.
package zipped
