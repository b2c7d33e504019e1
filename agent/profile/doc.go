// Package profile lists the profiles: the sets of tools that families of agents know. [Find] has them by name, for a
// command line or a config file. A program that wants one of them imports its package alone.
package profile
