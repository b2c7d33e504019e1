// Package params turns the arguments of a call, as a model wrote them, into the struct that a tool takes. The schema comes
// from the struct and its tags. Arguments that do not fit are refused in words that a model can act on.
package params
