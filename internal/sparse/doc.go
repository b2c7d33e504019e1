// Package sparse moves files with holes between a store and the host. A hole of the host is skipped instead of read, where
// the system can tell; one of the store is skipped instead of written.
package sparse
