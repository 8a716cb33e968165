package replicas

import (
	"os"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestMain(m *testing.M) { os.Exit(kit.RunTests(m)) }
