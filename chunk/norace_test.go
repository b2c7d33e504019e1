//go:build !race

package chunk

const racing = false
