package mount_test

import (
	"os"
	"testing"

	"vfsdb/internal/asuser"
)

func TestMain(m *testing.M) {
	asuser.Main()
	os.Exit(m.Run())
}
