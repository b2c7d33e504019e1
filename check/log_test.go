package check_test

import (
	"testing"
)

// Rules of the log of changes and calls.
func TestCheckFindsLog(t *testing.T) {
	testFinds(t, []damaged{
		{"a change lost", `DELETE FROM change WHERE seq = 1030`, []string{"change 1031: follows change 1029", ""}},
		{"the newest change lost", `DELETE FROM change WHERE seq = (SELECT max(seq) FROM change)`, []string{"but the counter says", ""}},
		{"a change of no branch", `UPDATE change SET branch = 4000 WHERE seq = 1030`, []string{"change 1030: branch 4000 never was", ""}},
		{"a change of the future", `UPDATE change SET epoch = 9 WHERE seq = 1030`, []string{"change 1030: made in epoch 9, but the branch is in epoch 3", ""}},
		{"a change of no call", `UPDATE change SET call = 2000 WHERE seq = 1030`, []string{"change 1030: call 2000 is missing", ""}},
		{"a change of a call that was trimmed", `UPDATE change SET call = 1023 WHERE seq = 1030`, []string{""}},
		{"an odd op", `UPDATE change SET op = 'Write' WHERE seq = 1030`, []string{"change 1030: it has an invalid op", ""}},
		{"an odd path", `UPDATE change SET path = '/a' WHERE seq = 1030`, []string{"change 1030: it has an invalid path", ""}},
		{"a short sum", `UPDATE change SET after = x'00' WHERE seq = 1030`, []string{"change 1030: a sum does not have 32 bytes", ""}},
		{"a short sum before", `UPDATE change SET before = x'00' WHERE seq = 1030`, []string{"change 1030: a sum does not have 32 bytes", ""}},
		{"a before of the future", `UPDATE change SET before = 1031 WHERE seq = 1030`, []string{"change 1030: its before is that of change 1031", ""}},
		{"an inode of the future", `UPDATE change SET ino = 1000000 WHERE seq = 1030`, []string{"but 1000000 is in use", ""}},
		{"an inode that never was", `UPDATE change SET ino = 0 WHERE seq = 1030`, []string{"change 1030: it names the inode 0", ""}},
		{"a directory that never was", `UPDATE change SET dir = 7 WHERE seq = 1030`, []string{"change 1030: it names the inode 7", ""}},
		{"another directory that never was", `INSERT INTO other VALUES (1030, 1023, NULL)`, []string{"change 1030: it names the inode 1023", ""}},
		{"a displaced inode that never was", `INSERT INTO other VALUES (1030, NULL, -1)`, []string{"change 1030: it names the inode -1", ""}},
		{"an inode that is gone", `INSERT INTO other VALUES (1030, NULL, 1025)`, []string{""}},
		{"numbers of no change", `INSERT INTO other VALUES (4000, 1024, NULL)`, []string{"change 4000 is missing, but has a row in other"}},
		{"numbers of none", `INSERT INTO other VALUES (1030, NULL, NULL)`, []string{"change 1030: its row in other has no number", ""}},
		{"a before in words", `UPDATE change SET before = 'x' WHERE seq = 1030`, []string{"change 1030: its before is no sum", ""}},
		{"a call of nobody", `INSERT INTO call VALUES (1024, 4000, 0, '', '', '', '', NULL, 0, 0, '', NULL, NULL, NULL, NULL, 0, 0)`, []string{"call 1024: branch 4000 never was", "the newest call is 1024, but the counter says 1023", ""}},
		{"a call that counts too much", `INSERT INTO call VALUES (1024, 1024, 0, '', '', '', '', NULL, 0, 0, '', NULL, NULL, 1030, 1030, 1, 0)`, []string{"call 1024: its row does not count its changes", "the newest call is 1024, but the counter says 1023", ""}},
		{"a trail without marks", `INSERT INTO trail SELECT 4, zeroblob(9)`, []string{"change 1024 is not in the trail of its block", ""}},
		{"a trail without tags", `INSERT INTO trail SELECT 4, zeroblob(512)`, []string{"change 1024 is not in the trail of its block", ""}},
		{"a trail of nothing", `INSERT INTO trail VALUES (9000, x'ff')`, []string{"the trail of block 9000 has no changes", ""}},
		{"a step of no call", `INSERT INTO step VALUES (1024, 2, 2000)`, []string{"step of call 2000 whose call is missing", ""}},
		{"a step of a call that was trimmed", `INSERT INTO step VALUES (1024, 2, 1000)`, []string{""}},
		{"a step of the future", `INSERT INTO step VALUES (1024, 9, 1000)`, []string{"step of call 1000 in epoch 9 of branch 1024, which is in epoch 3", ""}},
		{"a step of no branch", `INSERT INTO step VALUES (4000, 2, 1000)`, []string{"step of call 1000 on branch 4000, which never was", ""}},
		{"an undo of no call", `INSERT INTO undone VALUES (1024, 2000, 2, 2001)`, []string{"undo of call 2000 whose call is missing", ""}},
		{"an undo of the future", `INSERT INTO undone VALUES (1024, 1000, 9, 2001)`, []string{"undo of call 1000 in epoch 9 of branch 1024, which is in epoch 3", ""}},
		{"rows taken of no branch", `INSERT INTO reaped VALUES (4000, 2)`, []string{"rows up to epoch 2 were taken of branch 4000, which is missing", ""}},
		{"rows taken of the future", `INSERT INTO reaped VALUES (1024, 9)`, []string{"rows up to epoch 9 were taken of branch 1024, which is in epoch 3", ""}},
		{"a short digest", `INSERT INTO call VALUES (1024, 1024, 0, '', '', '', '', x'00', 0, 0, '', NULL, NULL, NULL, NULL, 0, 0)`, []string{"call 1024: a sum does not have 32 bytes"}},
	})
}
