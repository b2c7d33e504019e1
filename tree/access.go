package tree

import (
	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
)

// DB returns the file of the store, for rooms that keep rows of their own in it.
func (st *Store) DB() *schema.DB { return st.db }

// Journal returns the record of what happened in the store.
func (st *Store) Journal() *journal.Journal { return st.journal }

// Cache returns the memory of verified content.
func (st *Store) Cache() *chunk.Cache { return st.cache }

// Store returns the store that the tree is of.
func (t *Tree) Store() *Store { return t.store }

// Root returns the directory that the tree stands on.
func (t *Tree) Root() node.Ino { return t.root }

// Tree returns the tree that the transaction is on.
func (tx *Tx) Tree() *Tree { return tx.fsys }
