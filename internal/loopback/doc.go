// Package loopback distinguishes the hosts of the loopback, which only this machine can reach, from all others. The doors
// that serve HTTP share it. It keeps out web pages that reach a door by a name of their own (DNS rebinding), and other
// machines unless the door allows them.
package loopback
