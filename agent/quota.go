package agent

// withinQuota refuses what a call has done if it added something and the branch now holds more than the policy lets
// it. The count is exact: it is of this very transaction.
func (g *guard) withinQuota() error {
	p := g.box.policy
	if !g.grown || p.MaxBytes == 0 && p.MaxEntries == 0 {
		return nil
	}
	used, err := g.tx.DiskUsage(".")
	if err != nil {
		return err
	}
	held := used.Files + used.Dirs + used.Symlinks + used.Others - 1 // the root is no entry
	switch {
	case p.MaxBytes > 0 && used.Bytes > int64(p.MaxBytes):
		return &QuotaError{"bytes", used.Bytes, int64(p.MaxBytes)}
	case p.MaxEntries > 0 && held > p.MaxEntries:
		return &QuotaError{"entries", held, p.MaxEntries}
	}
	return nil
}
