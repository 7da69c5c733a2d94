package boxoffice

import (
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// mask collects the paths of the fields that are to change.
type mask struct {
	paths []string
}

// change returns the new value of a field, if it has one, and notes its path.
func change[T any](m *mask, path string, value *T) T {
	var none T
	if value == nil {
		return none
	}
	return changeIf(m, path, true, *value)
}

func changeIf[T any](m *mask, path string, isGiven bool, value T) T {
	if isGiven {
		m.paths = append(m.paths, path)
	}
	return value
}

// done fails if nothing is to change.
func (m *mask) done(c *checks, field string) *fieldmaskpb.FieldMask {
	if len(m.paths) == 0 {
		c.fail(field, "must have a field that is to change")
	}
	return &fieldmaskpb.FieldMask{Paths: m.paths}
}
