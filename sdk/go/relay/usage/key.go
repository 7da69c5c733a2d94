package usage

import (
	"context"
	"os"
	"strings"
	"time"
	"unicode"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/wait"
)

// KeySource returns the relay key. It is called at the start and after each 401, so that a key can be replaced. White
// space around the key does not matter.
type KeySource func(ctx context.Context) (string, error)

// Key is a key that never changes.
func Key(key string) KeySource {
	return func(context.Context) (string, error) { return key, nil }
}

// KeyFile is a file that holds the key.
func KeyFile(path string) KeySource {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(path)
		return string(text), err
	}
}

const keyReadMax = 30 * time.Second

// readKey reads the key from its source. Its error is [KeyUnreadable], at the latest when the context ends.
func readKey(ctx context.Context, source KeySource, timers wait.Timers) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := timers.AfterFunc(keyReadMax, cancel)
	defer stop()

	type answer struct {
		key string
		err error
	}
	// In a goroutine of its own, because a source may ignore its context.
	answers := make(chan answer, 1)
	go func() {
		key, err := source(ctx)
		answers <- answer{key, err}
	}()
	select {
	case <-ctx.Done():
		return "", &Error{Code: KeyUnreadable, message: "the relay key did not come"}
	case read := <-answers:
		if read.err != nil {
			return "", &Error{Code: KeyUnreadable, message: "the relay key cannot be read", cause: read.err}
		}
		key := strings.TrimFunc(read.key, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
		if !isPrintable(key) {
			return "", &Error{Code: KeyUnreadable, message: "what the source returned is not a key"}
		}
		return key, nil
	}
}

// isPrintable reports whether a header can hold the key.
func isPrintable(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool { return r < 0x21 || r > 0x7e })
}
