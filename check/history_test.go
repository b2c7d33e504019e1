package check_test

import (
	"testing"
)

// Rules of branches, lineages and snapshots.
func TestCheckFindsHistory(t *testing.T) {
	testFinds(t, []damaged{
		{"a branch's epoch", `UPDATE branch SET epoch = 2 WHERE name = 'main'`, []string{"main: dir/b: born in epoch 3, but the branch is in epoch 2"}},
		{"no main", `UPDATE branch SET name = 'other' WHERE name = 'main'`, []string{"main: branch is missing"}},
		{"a branch's name", `UPDATE branch SET name = 'a b' WHERE name = 'try'`, []string{"a b: branch has an invalid name"}},
		{"no level 0", `DELETE FROM lineage WHERE branch = 1025 AND level = 0`, []string{"try: lineage does not begin with the branch itself"}},
		{"levels apart", `UPDATE lineage SET level = 2 WHERE branch = 1025 AND level = 1`, []string{"try: lineage goes from level 0 to 2"}},
		{"no ancestor", `UPDATE lineage SET ancestor = 4000 WHERE branch = 1025 AND level = 1`, []string{"try: ancestor 4000 at level 1 is missing"}},
		{"a cap at the head", `UPDATE lineage SET epoch = 3 WHERE branch = 1025 AND level = 1`, []string{"try: ancestor main at level 1 is seen as of epoch 3, but is in epoch 3 itself"}},
		{"a cycle of branches", `INSERT INTO lineage VALUES (1024, 1, 1025, 2)`, []string{": branch is its own ancestor"}},
		{"a merge of nobody", `INSERT INTO merge VALUES (1024, 2, 4000, 2, 0)`, []string{"main: merge of branch 4000 into branch 1024, one of which is missing"}},
		{"a merge of the future", `INSERT INTO merge VALUES (1024, 9, 1025, 2, 0)`, []string{"main: merge in epoch 9, but the branch is in epoch 3"}},
		{"a merge of a head", `INSERT INTO merge VALUES (1024, 2, 1025, (SELECT epoch FROM branch WHERE id = 1025), 0)`, []string{"main: merge of epoch"}},
		{"lineage of nobody", `INSERT INTO lineage VALUES (4000, 0, 4000, 9223372036854775806)`, []string{"lineage of branch 4000, which is missing"}},
		{"a snapshot of the head", `UPDATE snapshot SET epoch = 3 WHERE name = 'base'`, []string{"main@base: snapshot is of epoch 3, but the branch is in epoch 3 itself"}},
		{"a snapshot of nobody", `UPDATE snapshot SET branch = 4000 WHERE name = 'base'`, []string{"@base: snapshot of branch 4000, which is missing"}},
		{"a branch row lost", `DELETE FROM branch WHERE name = 'try'`, []string{"tried: snapshot of branch 1025", "(branch 1025): branch is missing"}},
	})
}
