package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bounds that the pages give in figures are those of the source, wherever the constant is declared.
func TestPagesGiveBounds(t *testing.T) {
	var source strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root, d.Name() == "testdata", d.Name() == "node_modules":
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	}))

	for _, tt := range []struct{ page, says, constant, is string }{
		{"ARCHITECTURE.md", "a generation | see below | 32,768 entries", "nameSets", "1 << 13"}, // in sets of four entries
		{"ARCHITECTURE.md", "the existence of a head or a moment | a generation | see below | 64 entries", "treeSets", "1 << 4"},
		{"ARCHITECTURE.md", "16,384 entries, paths and targets up to 256 bytes", "pathSets", "1 << 12"},
		{"ARCHITECTURE.md", "16,384 entries, paths and targets up to 256 bytes", "maxCachedPath", "256"},
		{"ARCHITECTURE.md", "16,384 entries, paths and targets up to 256 bytes", "maxCachedTarget", "256"},
		{"ARCHITECTURE.md", "8,192 entries of up to 64 names", "namesOfSets", "1 << 11"},
		{"ARCHITECTURE.md", "8,192 entries of up to 64 names", "maxCachedNames", "64"},
		{"ARCHITECTURE.md", "16 entries of up to 4,096 keys", "pairSets", "1 << 2"},
		{"ARCHITECTURE.md", "16 entries of up to 4,096 keys", "maxCachedKeys", "1 << 12"},
		{"ARCHITECTURE.md", "65,536 clean entries a tree", "maxOwnEntries", "1 << 16"},
		{"ARCHITECTURE.md", "more than 1,024 levels | 256 rows a level", "maxFilters", "1 << 10"},
		{"ARCHITECTURE.md", "more than 1,024 levels | 256 rows a level", "MaxFiltered", "256"},
		{"ARCHITECTURE.md", "8 MiB and 32 chunks an inode", "overlayBytes", "8<<20 - windowBytes"},
		{"ARCHITECTURE.md", "8 MiB and 32 chunks an inode", "overlayWindows", "32"},
		{"ARCHITECTURE.md", "8 MiB; 65,536 contents that look binary", "sketchBytes", "8 << 20"},
		{"ARCHITECTURE.md", "8 MiB; 65,536 contents that look binary", "maxBinaries", "1 << 16"},
		{"ARCHITECTURE.md", "16 MiB and 8 MiB a store", "wholeBytes", "16 << 20"},
		{"ARCHITECTURE.md", "16 MiB and 8 MiB a store", "partBytes", "8 << 20"},
		{"ARCHITECTURE.md", "2,048 chains", "maxChains", "2048"},
		{"ARCHITECTURE.md", "wrote more than 256 names and inodes", "maxInvalidation", "256"},
		{"ARCHITECTURE.md", "up to 32 readers", "DefaultMaxReaders", "32"},
		{"ARCHITECTURE.md", "at most 17 levels", "MaxDepth", "16"}, // ancestors, and the branch itself
		{"LIMITS.md", "24 MiB of contents that it has read and verified: 16 MiB of files that are read whole, 8 MiB", "wholeBytes", "16 << 20"},
		{"LIMITS.md", "at most 8 MiB for 128 MiB of text", "sketchBytes", "8 << 20"},
		{"LIMITS.md", "or for 30 seconds, and then fail with EBUSY", "MaxWait", "30 * time.Second"},
		{"LIMITS.md", "gc keeps the newest million changes", "DefaultKeepChanges", "1_000_000"},
		{"LIMITS.md", "of which 12.9 TiB are not zeros", "maxLines", "27_000_000"},   // chunks of 512 KiB
		{"LIMITS.md", "| a database | 32 TiB, SQLite's limit |", "PageSize", "8192"}, // 2^32-2 pages
		{"LIMITS.md", "counts as dead after a minute of silence", "patience", "60 * time.Second"},
		{"schema/FORMAT.md", "bytes 2^62 (the next one) and 2^62 + 1 (the one that writes)", "lineLock int64", "1 << 62"},
		{"schema/FORMAT.md", "bytes 2^62 (the next one) and 2^62 + 1 (the one that writes)", "turnLock", "lineLock + 1"},
		{"schema/FORMAT.md", "2^61 + the number of the file's inode modulo 2^60", "firstTie", "1 << 61"},
		{"schema/FORMAT.md", "2^61 + the number of the file's inode modulo 2^60", "tieCount", "1 << 60"},
		{"schema/FORMAT.md", "one of the 1023 rows before", "Reach", "1024"},
		{"schema/FORMAT.md", "cut at 65536 bytes", "maxCommand", "65536"},
		{"schema/FORMAT.md", "`beat` is older than 60 seconds", "patience", "60 * time.Second"},
		{"schema/FORMAT.md", "It has no gaps, and at most 17 levels", "MaxDepth", "16"},
		{"SECURITY.md", "A path may lead through 40 symlinks", "maxLinks", "40"},
		{"TESTING.md", "a lineage stays at most 17 levels deep", "MaxDepth", "16"},
	} {
		page := strings.Join(strings.Fields(document(t, tt.page)), " ")
		require.Contains(t, page, tt.says, tt.page)
		declared := regexp.MustCompile(`(?m)^(?:const )?\s*`+tt.constant+`\s+= (.*?)(?:\s+//.*)?$`).FindAllStringSubmatch(source.String(), -1)
		require.NotEmpty(t, declared, tt.constant)
		found := false
		for _, d := range declared {
			found = found || d[1] == tt.is
		}
		require.True(t, found, "%s says %q, and %s is %q", tt.page, tt.says, tt.constant, declared)
	}
}
