package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
)

// This file checks content: manifests, blobs, packs and patches. It names the files that a fault of content touches.

// checkManifests verifies every manifest, and that every chunk in it is stored and has the right length.
func (c *checker) checkManifests(ctx context.Context) error {
	last := int64(-1 << 63)
	var order schema.Ascent

	for {
		var id int64
		var ok bool
		err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
			if id, ok, err = tx.Int(`SELECT id FROM manifest WHERE id > ? ORDER BY id LIMIT 1`, last); err != nil || !ok {
				return err
			}

			if err := order.To("manifest", id); err != nil {
				return err
			}

			c.report.Manifests++
			if _, err = chunk.Blobs(tx, id); err == nil || !isDamage(err) {
				return err
			}
			return c.faultOfContent(tx, hold.Manifest, id, chunk.Sum{}, whyDamaged(err))
		})
		if err != nil {
			return err
		}

		if !ok {
			return nil
		}
		last = id
	}
}

// whyDamaged is the text of a damage, in one line.
func whyDamaged(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// A blobRow is the id and the length of a blob, as its row has them.
type blobRow struct{ id, size int64 }

// blobsPerView is how many chunks are read in one transaction.
const blobsPerView = 8

// checkBlobs reads every chunk and compares it with its sum, a few in each transaction.
func (c *checker) checkBlobs(ctx context.Context) error {
	var total int64
	err := c.db.View(ctx, func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT count(*), total(min(max(size, 0), 524288)) FROM blob`)
		if rows.Next() {
			c.report.Blobs, total = rows.Int(0), rows.Int(1)
		}
		return rows.Close()
	})
	if err != nil {
		return err
	}

	if c.o.Quick {
		c.report.Bytes = total
		return c.checkBlobSizes(ctx)
	}

	// One buffer serves all chunks. A page that is not full is the last one.
	buf := make([]byte, chunk.Size)
	last := int64(-1 << 63)
	var order schema.Ascent
	for n := blobsPerView; n == blobsPerView; {
		err := c.db.View(ctx, func(tx *schema.Tx) error {
			page, err := blobPage(tx, last)
			if err != nil {
				return err
			}
			n = len(page)

			for _, b := range page {
				if err := order.To("blob", b.id); err != nil {
					return err
				}
				last = b.id
				if err := c.checkBlob(ctx, tx, b, buf); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}

		// The store may have grown since it was counted.
		if c.o.Progress != nil {
			c.o.Progress(c.report.Bytes, max(total, c.report.Bytes))
		}
	}
	return nil
}

func blobPage(tx *schema.Tx, after int64) ([]blobRow, error) {
	var page []blobRow
	rows := tx.Query(`SELECT id, size FROM blob WHERE id > ? ORDER BY id LIMIT ?`, after, blobsPerView)
	for rows.Next() {
		page = append(page, blobRow{rows.Int(0), rows.Int(1)})
	}
	return page, rows.Err()
}

func (c *checker) checkBlob(ctx context.Context, tx *schema.Tx, b blobRow, buf []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	what := ""
	var sum chunk.Sum
	if b.size < 1 || b.size > chunk.Size {
		what = fmt.Sprintf("blob %d: says %d bytes", b.id, b.size)
	} else {
		c.report.Bytes += b.size
		_, err := chunk.Read(tx, chunk.Content{Size: b.size, Blob: b.id}, buf[:b.size], 0)
		var damage *chunk.CorruptError
		switch {
		case err != nil && !isDamage(err):
			return err
		case err != nil:
			what = whyDamaged(err)
			if errors.As(err, &damage) {
				sum = damage.Sum
			}
		case allZero(buf[:b.size]):
			what = fmt.Sprintf("blob %d: holds nothing but zeros", b.id)
		}
	}

	if what == "" {
		return nil
	}
	return c.faultOfContent(tx, hold.Blob, b.id, sum, what)
}

func allZero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// checkBlobSizes compares lengths, which are known without the bytes. A quick check does this instead of reading.
func (c *checker) checkBlobSizes(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT id, size, length(data), codec FROM blob WHERE size NOT BETWEEN 1 AND 524288 
			OR codec = 0 AND length(data) <> size OR codec = 1 AND length(data) >= size OR codec = 2 AND length(data) <> 12
			OR codec = 3 AND length(data) NOT BETWEEN 8 AND size - 1 OR codec NOT BETWEEN 0 AND 3`)
		defer rows.Close()
		for rows.Next() {
			what := fmt.Sprintf("blob %d: says %d bytes, holds %d, codec %d", rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3))
			if err := c.faultOfContent(tx, hold.Blob, rows.Int(0), chunk.Sum{}, what); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// checkPacks makes sure that no pack is left over. The bytes in a pack are read with their blobs.
func (c *checker) checkPacks(ctx context.Context) error {
	var order schema.Ascent
	for last := int64(-1 << 63); ; {
		if err := ctx.Err(); err != nil {
			return err
		}

		done := false
		err := c.db.View(ctx, func(tx *schema.Tx) error {
			has, err := journal.Kept(tx) // packs came with the same format
			if err != nil || !has {
				done = true
				return err
			}

			id, ok, err := tx.Int(`SELECT id FROM pack WHERE id > ? ORDER BY id LIMIT 1`, last)
			if err != nil || !ok {
				done = true
				return err
			}
			if err := order.To("pack", id); err != nil {
				return err
			}

			last = id
			why, err := chunk.CheckPack(tx, id)
			if err != nil && isDamage(err) {
				why, err = whyDamaged(err), nil
			}
			if err != nil || why == "" {
				return err
			}
			return c.fault(Fault{What: why})
		})
		if err != nil || done {
			return err
		}
	}
}

// checkPatches makes sure that content that is stored as patches has a base, and that the base is kept for it.
func (c *checker) checkPatches(ctx context.Context) error {
	const page = 1000

	// Each entry of the table patch has its base, and the content that is stored over it.
	var at chunk.Dependent
	for n := page; n == page; {
		err := c.db.View(ctx, func(tx *schema.Tx) error {
			list, err := chunk.Dependents(tx, at, page)
			n = len(list)
			for _, at = range list {
				if err := c.checkDependent(tx, at); err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}

	// All content that is stored as patches has such an entry: without one its base could be collected.
	for _, kind := range []int{hold.Blob, hold.Manifest} {
		last := int64(-1 << 63)
		for n := page; n == page; {
			err := c.db.View(ctx, func(tx *schema.Tx) error {
				ids, err := chunk.Deltas(tx, kind, last, page)
				n = len(ids)
				for _, last = range ids {
					if err := c.checkDelta(tx, kind, last); err != nil {
						return err
					}
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}

	return ctx.Err()
}

func (c *checker) checkDelta(tx *schema.Tx, kind int, id int64) error {
	why, err := chunk.CheckDelta(tx, kind, id)
	if err != nil || why == "" {
		return err
	}
	return c.faultOfContent(tx, kind, id, chunk.Sum{}, why)
}

func (c *checker) checkDependent(tx *schema.Tx, p chunk.Dependent) error {
	why, err := chunk.CheckDependent(tx, p)
	if err != nil || why == "" {
		return err
	}
	return c.faultOfContent(tx, p.Kind, p.ID, chunk.Sum{}, why)
}

// faultOfContent reports a fault of a blob or a manifest, for each name in each tree that leads to it. It is a fault even
// if nothing leads to the content: the next file with the same bytes would get it.
func (c *checker) faultOfContent(tx *schema.Tx, kind int, id int64, sum chunk.Sum, what string) error {
	text := `SELECT branch, ino, born, died FROM inode WHERE manifest = ?`
	if kind == hold.Blob {
		text = `SELECT branch, ino, born, died FROM inode WHERE blob = ?`
	}

	rows, err := inodesOf(tx, text, []int64{id})
	if err != nil {
		return err
	}

	// Files over one chunk lead to a blob through their manifests.
	if kind == hold.Blob {
		manifests, err := manifestsWith(tx, id, sum)
		if err != nil {
			return err
		}
		more, err := inodesOf(tx, `SELECT branch, ino, born, died FROM inode WHERE manifest = ?`, manifests)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}

	if len(rows) == 0 {
		return c.fault(Fault{What: what})
	}

	for _, r := range rows {
		if err := c.faultOfInode(tx, r.branch, r.Ino, r.life, what); err != nil {
			return err
		}
	}
	return nil
}

// inodesOf runs a query for inode rows with each of a list of ids.
func inodesOf(tx *schema.Tx, text string, ids []int64) ([]inodeRow, error) {
	var list []inodeRow
	for _, id := range ids {
		rows := tx.Query(text, id)
		for rows.Next() {
			list = append(list, inodeRow{branch: rows.Int(0), Form: node.Form{Ino: rows.Int(1)}, life: life{born: rows.Int(2), died: rows.Int(3)}})
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// manifestsWith lists the manifests that have a line with the sum of a blob: the sum in its row, or the one that it was
// read for.
func manifestsWith(tx *schema.Tx, blob int64, sum chunk.Sum) ([]int64, error) {
	var list []int64

	// Whole manifests have the sum in their bytes.
	var asked any
	if !sum.IsZero() {
		asked = sum[:]
	}
	rows := tx.Query(`SELECT id FROM manifest WHERE instr(body, (SELECT sum FROM blob WHERE id = ?1)) > 0 OR instr(body, ?2) > 0`, blob, asked)
	for rows.Next() {
		list = append(list, rows.Int(0))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}

	// A manifest that is stored over one of those may have the line from it, and not in its own bytes.
	stored, err := sumOfBlob(tx, blob)
	if err != nil {
		return nil, err
	}
	for _, base := range list {
		over, err := chunk.DependentsOf(tx, hold.Manifest, base, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		for _, id := range over {
			has, err := chunk.Lists(tx, id, sum, stored)
			if err != nil {
				return nil, err
			}
			if has {
				list = append(list, id)
			}
		}
	}
	return list, nil
}

// sumOfBlob returns the sum in a blob's row, or zeros.
func sumOfBlob(tx *schema.Tx, blob int64) (sum chunk.Sum, err error) {
	rows := tx.Query(`SELECT sum FROM blob WHERE id = ?`, blob)
	if rows.Next() && rows.Len(0) == len(sum) {
		rows.Read(0, sum[:])
	}
	return sum, rows.Close()
}
