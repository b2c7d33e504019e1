package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row of the contract about tools (T), policy (P), and rulings between its sources (K) is cited by a test.
func TestRowsAreTested(t *testing.T) {
	row := regexp.MustCompile(`\b[TPK][0-9]{2}\b`)
	cited := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, id := range row.FindAllString(string(text), -1) {
			cited[id] = true
		}
		return err
	})
	require.NoError(t, err)
	for _, part := range []struct {
		letter string
		rows   int
	}{{"T", 17}, {"P", 9}, {"K", 27}} {
		for n := 1; n <= part.rows; n++ {
			id := fmt.Sprintf("%s%02d", part.letter, n)
			require.True(t, cited[id], "no test cites %s", id)
		}
	}
}
