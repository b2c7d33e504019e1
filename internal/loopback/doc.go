// Package loopback tells addresses and names by which only this machine reaches itself from others. The doors that serve
// HTTP share it: a web page must not reach them by a name of its own, and other machines only where that is allowed.
package loopback
