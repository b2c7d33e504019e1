package mount_test

import (
	"os"
	"testing"

	"vfsdb/internal/asuser"
)

func TestMain(m *testing.M) {
	serveUntilKilled()
	asuser.Main()
	os.Exit(m.Run())
}
