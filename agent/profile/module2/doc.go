// Package module2 is the profile of the agent module "filesystem" 2.0.0: short verbs, line numbers everywhere, errors as
// {success, error}.
package module2
