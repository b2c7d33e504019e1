// Package retry runs a call again that found the store busy.
package retry
