package relay

import (
	"testing"

	"boxoffice.example/boxoffice/sdk/go/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }
