package journal

import "vfsdb/schema"

// A Growth bounds how much a branch can have grown since an event.
type Growth struct {
	Seq     int64 // of the newest event
	Bytes   int64 // by which content grew, at most
	Entries int64 // names that were added, at most

	// Unknown is that no bound is known: events are gone, or one stands for any number of entries.
	Unknown bool
}

// GrownSince bounds how much a branch grew since an event, with the events of the transaction so far: a [Writer]
// must be flushed. Events that shrank the tree are left out, so that the bound holds whatever a content was counted for. It
// costs a look at each event since. An event that is not there yet, such as one of a file that this one has taken the place
// of, is Unknown.
func GrownSince(tx *schema.Tx, branch, seq int64) (g Growth, err error) {
	oldest, _, err := Span(tx)
	if err != nil {
		return Growth{}, err
	}

	// Copy and restore stand for any number of entries.
	rows := tx.Query(`SELECT ifnull(max(seq), 0), ifnull(total(iif(ifnull(branch, 1024) = ?2, max(grew, 0), 0)), 0),
			ifnull(sum(ifnull(branch, 1024) = ?2 AND op IN ('create', 'mkdir', 'symlink', 'link', 'mknod')), 0),
			ifnull(max(ifnull(branch, 1024) = ?2 AND op IN ('copy', 'restore')), 0)
		FROM change WHERE seq > ?1`, seq, branch)
	defer rows.Close()
	if rows.Next() {
		g = Growth{Seq: rows.Int(0), Bytes: rows.Int(1), Entries: rows.Int(2), Unknown: rows.Int(3) == 1}
	}
	if err := rows.Err(); err != nil {
		return Growth{}, err
	}

	_, newest, err := Span(tx)
	if g.Seq == 0 { // nothing since: all of it is known, if it is there at all
		g.Seq = newest
		g.Unknown = newest != seq
	}
	g.Unknown = g.Unknown || oldest > seq+1
	return g, err
}
