// Package texts cuts, numbers, searches and compares texts for the results of tools.
package texts
