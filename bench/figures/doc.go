// Package figures writes figures for people, and into pages, and describes the machine that they are of.
package figures
