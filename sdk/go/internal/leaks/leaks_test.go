package leaks

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"
)

const leakVariable = "LEAKS_TEST_LEAK"

func TestMain(m *testing.M) { Main(m) }

func TestFind(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	isLeft := func(patience time.Duration) bool {
		return strings.Contains(strings.Join(find(patience), "\n\n"), "leaks.TestFind.func1")
	}
	if !isLeft(0) {
		t.Error("a goroutine that waits was not found")
	}
	close(end)
	for isLeft(0) {
		// Until it has ended.
		time.Sleep(time.Millisecond)
	}
}

func TestSignals(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	if left := strings.Join(find(0), "\n\n"); strings.Contains(left, "os/signal") {
		t.Error(left)
	}
}

// TestLeak leaks in a process of its own.
func TestLeak(t *testing.T) {
	if os.Getenv(leakVariable) != "" {
		go func() { select {} }()
		return
	}
	run := exec.Command(os.Args[0], "-test.run", "^TestLeak$")
	run.Env = append(os.Environ(), leakVariable+"=1")
	output, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "leaks.TestLeak.func1") {
		t.Errorf("error %v, output\n%s", err, output)
	}
}
