package vfs

import "vfsdb/schema"

// news are what a transaction that writes has changed: the facts that are no longer true after its commit. It says
// so for all verbs that share its commit, so all of these take part. Names that were rolled back do no harm.
type news struct {
	mark  schema.Mark // of what it started from
	names []nameFact
	nodes []nodeFact
}

// newsKey is what the news of a transaction are kept under.
type newsKey struct{}

// maxNews bounds what is carried over a commit: after one that changed more, all facts are void.
const maxNews = 256

// carry has facts hold on after the commit of this transaction, if they are true of what it starts from. From here on,
// each name and inode that it writes must be told. Whoever writes by other means than putDirent, dropDirent, putInode
// and dropInode must not call it.
func (f *facts) carry(tx *schema.Tx, db *schema.DB) {
	if tx.Local(newsKey{}) != nil {
		return // the first verb of the transaction has decided
	}
	// Nobody can commit while this transaction writes, so this is what it starts from.
	e := f.now(db)
	if e == nil {
		tx.SetLocal(newsKey{}, (*news)(nil))
		return
	}
	n := &news{mark: e.mark}
	tx.SetLocal(newsKey{}, n)
	tx.AfterCommit(func() { f.renew(n, db) })
}

// renew begins the era after a commit. What the commit has changed is forgotten; the rest stays true.
func (f *facts) renew(n *news, db *schema.DB) {
	if len(n.names)+len(n.nodes) > maxNews {
		return
	}
	mark, ok := db.CommitMark()
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.era.Load()
	if e.mark != n.mark {
		return
	}
	// In this order: who finds the new era finds nothing that is not true of it. Those who still read in the old one
	// learn nothing more, so nothing comes back.
	for _, key := range n.names {
		f.names.drop(key)
	}
	for _, key := range n.nodes {
		f.nodes.drop(key)
	}
	f.era.Store(&era{mark: mark, n: e.n + 1, since: e.since})
}

// tellName notes that a name is written.
func (tx *Tx) tellName(key nameKey) {
	if tx.news != nil && len(tx.news.names) <= maxNews {
		tx.news.names = append(tx.news.names, nameFact{tx.fsys.at, key})
	}
}

// tellNode notes that an inode is written.
func (tx *Tx) tellNode(ino Ino) {
	if tx.news != nil && len(tx.news.nodes) <= maxNews {
		tx.news.nodes = append(tx.news.nodes, nodeFact{tx.fsys.at, ino})
	}
}
