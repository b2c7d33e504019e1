// Package retry tries again what found the store busy.
package retry
