package boxoffice

import (
	"context"
	"iter"
)

// Page is a page of a list.
type Page[T any] struct {
	// Items are in the order of the list.
	Items []*T `json:"items"`
	// NextPageToken is for the next page; empty for the last page.
	NextPageToken string `json:"next_page_token,omitzero"`
}

// pagesFrom reads page after page, each when the loop asks for it. The iteration ends after an error.
func pagesFrom[T any](
	ctx context.Context,
	first string,
	read func(ctx context.Context, pageToken string) (*Page[T], error),
) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		for pageToken := first; ; {
			page, err := read(ctx, pageToken)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || page.NextPageToken == "" {
				return
			}
			pageToken = page.NextPageToken
		}
	}
}

// itemsOf yields the items of pages.
func itemsOf[T any](pages iter.Seq2[*Page[T], error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
