package boxoffice

import (
	"testing"

	"boxoffice.example/boxoffice/sdk/go/internal/apilist"
)

func TestAPI(t *testing.T) {
	apilist.Compare(t)
}
