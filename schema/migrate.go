package schema

import (
	"context"
	_ "embed"
	"fmt"

	"zombiezen.com/go/sqlite/sqlitex"
)

// migrations bring a file from the version before to the one that is their key. New files get the same tables from
// tables.sql.
var migrations = map[int64]string{2: toVersion2, 3: toVersion3, 4: toVersion4, 5: toVersion5, 6: toVersion6}

//go:embed version2.sql
var toVersion2 string

//go:embed version3.sql
var toVersion3 string

//go:embed version4.sql
var toVersion4 string

//go:embed version5.sql
var toVersion5 string

//go:embed version6.sql
var toVersion6 string

// migrate brings an older file to the present version, in one transaction: a process that opens it meanwhile, or after a
// crash, finds the old version or the new one.
func migrate(ctx context.Context, c *conn) error {
	return c.run(ctx, true, func(*Tx) error {
		// Another process may have been first.
		_, version, err := identity(c)
		if err != nil {
			return err
		}
		if version > Version {
			return tooNew(version)
		}

		for ; version < Version; version++ {
			text, ok := migrations[version+1]
			if !ok {
				return fmt.Errorf("%w: it has format %d", ErrForeign, version)
			}
			if err := sqlitex.ExecuteScript(c.sq, "SAVEPOINT tables;"+text+";RELEASE tables;", nil); err != nil {
				return fmt.Errorf("bring to format %d: %w", version+1, mapError(err))
			}
		}
		return c.pragma(fmt.Sprintf("user_version=%d", Version))
	})
}

func identity(c *conn) (app, version int64, err error) {
	if app, err = c.pragmaInt("application_id"); err != nil {
		return 0, 0, err
	}
	version, err = c.pragmaInt("user_version")
	return app, version, err
}
