package boxoffice

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// filter collects the parameters of a query of REST, and the mistakes in them.
type filter struct {
	checks
	values url.Values
}

// text is absent if it is empty.
func (f *filter) text(name, value string) {
	if value != "" {
		f.optional(name, &value)
	}
}

// optional is absent for nil.
func (f *filter) optional(name string, value *string) {
	if value == nil {
		return
	}
	if f.values == nil {
		f.values = url.Values{}
	}
	f.values.Set(name, *value)
}

// number is absent for 0.
func (f *filter) number(name string, value int32) {
	if value != 0 {
		f.text(name, strconv.FormatInt(int64(value), 10))
	}
}

// at is absent for the zero time.
func (f *filter) at(name string, value time.Time) {
	if f.time(name, value) != nil {
		f.text(name, value.UTC().Format(time.RFC3339Nano))
	}
}

// words are absent if there are none.
func words[W ~string](f *filter, name string, values []W) {
	f.text(name, strings.Join(each(values, func(word W) string { return string(word) }), ","))
}

// segment checks what becomes a part of a path: URLs drop the parts . and .., percent-encoded or not.
// Source: WHATWG URL, 4.4.
func segment(name, value string) (string, error) {
	if !utf8.ValidString(value) || slices.Contains([]string{"", ".", ".."}, value) {
		return "", invalid(name, `must be valid UTF-8, and not empty, "." or ".."`)
	}
	return url.PathEscape(value), nil
}

// listed is a page of REST, whose items are in the member with this name.
type listed[T any] struct {
	member string
	page   Page[T]
}

// UnmarshalJSON is part of [json.Unmarshaler].
func (l *listed[T]) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	if err := json.Unmarshal(members[l.member], &l.page.Items); err != nil {
		return err
	}
	if cursor, ok := members["next_cursor"]; ok {
		return json.Unmarshal(cursor, &l.page.NextPageToken)
	}
	return nil
}

// pagesOfREST reads a list of REST page after page: its operation has a name and a path.
func pagesOfREST[T any](
	ctx context.Context,
	r *rest,
	op operation,
	member string,
	asked filter,
	pageToken string,
	options []CallOption,
) iter.Seq2[*Page[T], error] {
	op.method, op.mayRepeat = "GET", true
	return pagesFrom(ctx, pageToken, func(ctx context.Context, cursor string) (*Page[T], error) {
		if err := asked.err(); err != nil {
			return nil, err
		}
		// The sequence may be read several times at once.
		next := filter{values: maps.Clone(asked.values)}
		next.text("cursor", cursor)
		request := op
		request.query = next.values
		answer := &listed[T]{member: member}
		err := r.call(ctx, request, answer, options)
		return orNil(&answer.page, err)
	})
}
