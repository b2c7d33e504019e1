package apply

import (
	"testing"

	"vfsdb/internal/vfstest"
)

func TestMain(m *testing.M) { vfstest.Main(m) }
