// Package leaks finds goroutines that tests leave behind. It is our own because modules of tests would get into the go.sum
// of everyone who uses the SDK.
package leaks

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines have to end, such as those of connections that were closed.
const patience = 5 * time.Second

// Main runs the tests of a package. They fail if goroutines are left.
func Main(m *testing.M) {
	code := m.Run()
	if left := find(patience); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n\n%s\n", strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// find returns the stacks of the goroutines that do not end in time, but for the one that calls it.
func find(patience time.Duration) []string {
	for endsAt, wait := time.Now().Add(patience), time.Millisecond; ; wait *= 2 {
		left := others()
		if len(left) == 0 || time.Now().After(endsAt) {
			return left
		}
		time.Sleep(min(wait, 100*time.Millisecond))
	}
}

func others() []string {
	stacks := strings.Split(strings.TrimSpace(allStacks()), "\n\n")
	var left []string
	// The first is the goroutine that asks.
	for _, stack := range stacks[1:] {
		// One waits for signals as long as the process lives, if it ever asked for some.
		if !strings.Contains(stack, "os/signal.loop") {
			left = append(left, stack)
		}
	}
	return left
}

func allStacks() string {
	for size := 1 << 16; ; size *= 2 {
		buffer := make([]byte, size)
		if length := runtime.Stack(buffer, true); length < size {
			return string(buffer[:length])
		}
	}
}
