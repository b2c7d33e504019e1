package history

import (
	"cmp"
	"maps"
	"slices"

	"vfsdb/schema"
)

// A reach is what a moment contains: of each branch all moments up to an epoch. A branch contains its own past, the
// moments that it was forked from, and those that it took in by merges.
type reach map[int64]int64

func (r reach) add(at Moment) { r[at.Branch] = max(r[at.Branch], at.Epoch) }

// contains reports whether a moment is one of those.
func (r reach) contains(at Moment) bool { return r[at.Branch] >= at.Epoch }

// reachOf returns what a moment contains, and apart from that what it contains by merges.
func reachOf(db *schema.Tx, at Moment) (all, merged reach, err error) {
	levels, err := ReadLineage(db, at)
	if err != nil {
		return nil, nil, err
	}
	return reachAlong(db, levels)
}

// Contained returns what a moment contains: of each branch the epoch up to which. It costs as much as there are merges in
// its past.
func Contained(db *schema.Tx, at Moment) (map[int64]int64, error) {
	all, _, err := reachOf(db, at)
	return all, err
}

// reachAlong is [reachOf] for a moment of this lineage.
func reachAlong(db *schema.Tx, levels []Level) (all, merged reach, err error) {
	// The rows of each level are read from its cap backwards. One that says that the branch became another moment hides
	// all that came before.
	all, merged = make(reach), make(reach)
	hidden := false
	for _, l := range levels {
		all.add(Moment{l.Branch, l.Cap})
		since := int64(0)
		rows := db.Query(`SELECT epoch, source, cap, reset FROM merge WHERE branch = ? AND epoch <= ? ORDER BY epoch DESC`, l.Branch, l.Cap)
		for !hidden && rows.Next() {
			if rows.Int(0) < since {
				break
			}
			if source := rows.Int(1); source != l.Branch {
				merged.add(Moment{source, rows.Int(2)})
			}
			if rows.Int(3) != 0 {
				since = rows.Int(0)
			}
		}
		hidden = hidden || since != 0
		if err := rows.Close(); err != nil {
			return nil, nil, err
		}
	}
	for branch, epoch := range merged {
		all.add(Moment{branch, epoch})
	}
	return all, merged, nil
}

// Bases returns the best moments that two others both contain: none of them is contained in another. There are several
// where each side has taken in the other's past, and none where they have nothing in common. It costs as much as both
// have merges in their past, and as much again for each moment that no other contains.
func Bases(db *schema.Tx, a, b Moment) ([]Moment, error) {
	inA, byMergeA, err := reachOf(db, a)
	if err != nil {
		return nil, err
	}
	inB, byMergeB, err := reachOf(db, b)
	if err != nil {
		return nil, err
	}

	// A moment that another one contains needs no look. The branches of a and b themselves, and what they were forked from,
	// contain most others as a rule, so they come first.
	var common []Moment
	for branch, epoch := range inA {
		if at := (Moment{branch, min(epoch, inB[branch])}); at.Epoch > 0 {
			common = append(common, at)
		}
	}
	rank := func(at Moment) int {
		switch {
		case at.Branch == a.Branch, at.Branch == b.Branch:
			return 0
		case byMergeA[at.Branch] == 0 || byMergeB[at.Branch] == 0:
			return 1
		}
		return 2
	}
	slices.SortFunc(common, func(x, y Moment) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(y.Epoch, x.Epoch), cmp.Compare(y.Branch, x.Branch))
	})

	covered, seen := make(reach), make(map[Moment]reach)
	for _, at := range common {
		if covered.contains(at) {
			continue
		}

		// Of a branch that was dropped, the moments can only be read as long as something keeps them.
		there, err := readable(db, at)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		if seen[at], _, err = reachOf(db, at); err != nil {
			return nil, err
		}
		for branch, epoch := range seen[at] {
			covered.add(Moment{branch, epoch})
		}
	}

	var best []Moment
	for at := range seen {
		inOther := false
		for other, r := range seen {
			inOther = inOther || other != at && r.contains(at)
		}
		if !inOther {
			best = append(best, at)
		}
	}
	slices.SortFunc(best, func(x, y Moment) int { return cmp.Or(cmp.Compare(x.Branch, y.Branch), cmp.Compare(x.Epoch, y.Epoch)) })
	return best, nil
}

// readable reports whether the tree of a moment is there still: that of a head, or one that something keeps, through a
// lineage that something has.
func readable(db *schema.Tx, at Moment) (bool, error) {
	if !at.Final() {
		_, named, err := ReadBranch(db, at.Branch)
		return named, err
	}
	if kept, err := Kept(db, at); err != nil || !kept {
		return false, err
	}
	return hasLineage(db, at)
}

// MergeEpochs returns the epochs in which a branch took in others by merges, ascending, without those in which it became another
// moment.
func MergeEpochs(db *schema.Tx, branch int64) (list []int64, err error) {
	rows := db.Query(`SELECT epoch FROM merge WHERE branch = ? GROUP BY epoch HAVING max(reset) = 0 ORDER BY epoch`, branch)
	for rows.Next() {
		list = append(list, rows.Int(0))
	}
	return list, rows.Err()
}

// TakenIn returns the moments of other branches that a branch took in by merges in some epochs, from one to another. A moment
// that another one of them contains is left out.
func TakenIn(db *schema.Tx, branch, from, to int64) (list []Moment, err error) {
	rows := db.Query(`SELECT source, max(cap) FROM merge WHERE branch = ?1 AND epoch BETWEEN ?2 AND ?3 AND source <> branch
		GROUP BY source ORDER BY max(epoch) DESC, source DESC`, branch, from, to)
	for rows.Next() {
		list = append(list, Moment{rows.Int(0), rows.Int(1)})
	}
	if err := rows.Err(); err != nil || len(list) < 2 {
		return list, err
	}

	contents := make([]reach, len(list))
	for i, at := range list {
		levels, err := FindLineage(db, at)
		if err != nil {
			return nil, err
		}
		if contents[i], _, err = reachAlong(db, levels); err != nil {
			return nil, err
		}
	}
	var best []Moment
	for i, at := range list {
		inOther := false
		for k, r := range contents {
			inOther = inOther || k != i && r.contains(at)
		}
		if !inOther {
			best = append(best, at)
		}
	}
	return best, nil
}

// AddMerge notes that a branch contains a moment from now on, and all that the moment contains. It keeps these moments
// for a collector, as long as both branches, or forks of them, live.
func AddMerge(db *schema.Tx, branch int64, from Moment) error {
	have, _, err := reachOf(db, Moment{branch, schema.Head})
	if err != nil {
		return err
	}
	source, _, err := reachOf(db, from)
	if err != nil {
		return err
	}
	return addMerges(db, branch, source, have)
}

// addMerges notes that a branch contains what is in source and not in have.
func addMerges(db *schema.Tx, branch int64, source, have reach) error {
	epoch, _, err := ReadBranch(db, branch)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(source)) {
		if have.contains(Moment{id, source[id]}) {
			continue
		}
		if err := putMerge(db, branch, epoch, Moment{id, source[id]}, 0); err != nil {
			return err
		}
	}
	return nil
}

func putMerge(db *schema.Tx, branch, epoch int64, from Moment, reset int64) error {
	n, err := db.Exec(`UPDATE merge SET cap = ?4, reset = max(reset, ?5) WHERE branch = ?1 AND epoch = ?2 AND source = ?3`,
		branch, epoch, from.Branch, from.Epoch, reset)
	if err != nil || n > 0 {
		return err
	}
	_, err = db.Exec(`INSERT INTO merge (branch, epoch, source, cap, reset) VALUES (?, ?, ?, ?, ?)`,
		branch, epoch, from.Branch, from.Epoch, reset)
	return err
}

// Become notes that a branch is from now on what a past moment was, as a restore makes it. What it took in by merges
// before counts no more, unless the moment has taken it in too: it can be merged again. A moment of the branch itself,
// or of an ancestor, without any merges between then and now, needs no note.
func Become(db *schema.Tx, branch int64, at Moment) error {
	have, merged, err := reachOf(db, Moment{branch, schema.Head})
	if err != nil {
		return err
	}
	then, mergedThen, err := reachOf(db, at)
	if err != nil {
		return err
	}
	if have.contains(at) && maps.Equal(merged, mergedThen) {
		return nil
	}

	epoch, _, err := ReadBranch(db, branch)
	if err != nil {
		return err
	}
	if err := putMerge(db, branch, epoch, Moment{branch, schema.FirstEpoch}, 1); err != nil {
		return err
	}
	own, err := ReadLineage(db, Moment{branch, schema.Head})
	if err != nil {
		return err
	}
	lineage := make(reach)
	for _, l := range own {
		lineage.add(Moment{l.Branch, l.Cap})
	}
	return addMerges(db, branch, then, lineage)
}

// AddFork gives a new branch its lineage, as [AddLineage] does. from is the lineage of the moment that was forked, and squashed
// says that the new one has levels of it merged into one: then the branch is noted to contain what its lineage does not show.
// The branch of the moment may be dropped.
func AddFork(db *schema.Tx, id int64, inherited, from []Level, squashed bool) error {
	if err := AddLineage(db, id, inherited); err != nil || !squashed {
		return err
	}
	have, _, err := reachOf(db, Moment{id, schema.Head})
	if err != nil {
		return err
	}
	source, _, err := reachAlong(db, from)
	if err != nil {
		return err
	}
	return addMerges(db, id, source, have)
}

// alive is a branch that has a name, or that a fork reads through.
const alive = `SELECT id FROM branch WHERE name IS NOT NULL UNION SELECT ancestor FROM lineage`

// DropMerges deletes the notes that can serve no more: those of which one branch is gone, with all its forks, and those
// that a later one of the same two branches covers, if nothing keeps a moment between the two. It returns how many.
func DropMerges(db *schema.Tx) (count int64, err error) {
	for _, text := range []string{
		`DELETE FROM merge WHERE branch NOT IN (` + alive + `) OR source NOT IN (` + alive + `)`,
		`DELETE FROM merge AS m WHERE reset = 0 AND EXISTS (SELECT 1 FROM merge n
			WHERE n.branch = m.branch AND n.source = m.source AND n.epoch > m.epoch AND n.cap >= m.cap
			AND NOT EXISTS (SELECT 1 FROM snapshot s WHERE s.branch = m.branch AND s.epoch >= m.epoch AND s.epoch < n.epoch)
			AND NOT EXISTS (SELECT 1 FROM lineage l WHERE l.ancestor = m.branch AND l.epoch >= m.epoch AND l.epoch < n.epoch)
			AND NOT EXISTS (SELECT 1 FROM merge k WHERE k.source = m.branch AND k.cap >= m.epoch AND k.cap < n.epoch))`,
	} {
		n, err := db.Exec(text)
		if err != nil {
			return count, err
		}
		count += n
	}
	return count, nil
}

// MergesToDrop reports whether [DropMerges] might find something to do.
func MergesToDrop(db *schema.Tx) (bool, error) {
	_, some, err := db.Int(`SELECT 1 FROM merge LIMIT 1`)
	return some, err
}
