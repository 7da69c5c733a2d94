package usage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCloseEndsSessionsSendsEverythingAndLeavesAnEmptyFolder(t *testing.T) {
	b := newBench(t)
	reporter := b.open()
	session, err := reporter.StartSession(SessionStart{Participant: "Ada", Role: Host, Tier: Audio})
	if err != nil {
		t.Fatal(err)
	}
	add(t, session, 5_000, 0)
	b.clock.Advance(7 * time.Second)
	_, added := reporter.store(usageOf(func(r *Record) { r.Participant = "Grace" }))
	wantEqual(t, reporter.Close(context.Background()), 0)
	if err := reporter.spool.wait(context.Background(), added); err != nil {
		t.Error(err)
	}
	var got []string
	for _, id := range b.service.chargedIDs() {
		record := b.service.charged[id]
		got = append(got, fmt.Sprint(record.Participant, record.Seconds, record.EgressBytes))
	}
	slices.Sort(got)
	wantEqual(t, got, []string{"Ada7 5000", "Grace60 50000000"})
	b.wantFiles()
	wantEqual(t, len(b.clock.Timers()), 0)
}

func TestCloseTriesUntilItsDeadlineAndLeavesTheRest(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(5))
	b.service.fail(times(100, answer(503, ""))...)
	b.store(reporter, usagesOf(12)...)
	b.until("a failure", func() bool { return len(eventsOf[SendFailed](b)) == 1 })
	left := make(chan int, 1)
	go func() { left <- reporter.Close(context.Background()) }()
	b.untilTimer(5 * time.Second)
	b.pass(500*time.Millisecond, "the end", func() bool { return len(left) == 1 })
	wantEqual(t, <-left, 12)
	if count := len(eventsOf[SendFailed](b)); count < 2 {
		t.Errorf("%d attempts", count)
	}
	wantEqual(t, len(b.clock.Timers()), 0)
	wantEqual(t, len(b.files()), 3)
}

func TestCloseAbortsAnUnansweredRequestAndTheNextStartRepeatsIt(t *testing.T) {
	b := newBench(t)
	first := b.greet(records(2))
	b.service.fail(fault{kind: "hang"})
	ids := b.store(first, usagesOf(2)...)
	b.until("a request", func() bool { return len(b.service.batches()) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	wantEqual(t, first.Close(ctx), 2)
	b.open(records(2))
	b.untilCharged(2)
	wantEqual(t, b.service.chargedIDs(), ids)
	batches := b.service.batches()
	wantEqual(t, batches[1].body, batches[0].body)
}

func TestCloseDoesNotWaitForTheAnswerToAnEmptyBatch(t *testing.T) {
	b := newBench(t)
	b.service.fail(fault{kind: "hang"})
	reporter := b.open()
	b.until("a request", func() bool { return b.service.requests() == 1 })
	wantEqual(t, reporter.Close(context.Background()), 0)
}

func TestCloseMayBeCalledTwice(t *testing.T) {
	b := newBench(t)
	reporter := b.open()
	var all sync.WaitGroup
	for range 2 {
		all.Add(1)
		go func() {
			defer all.Done()
			wantEqual(t, reporter.Close(context.Background()), 0)
		}()
	}
	all.Wait()
}

func TestOpenChecksItsOptions(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"an id of the relay with a dot":      func(o *Options) { o.RelayID = "relay.7" },
		"an address that is none":            func(o *Options) { o.URL = "billing" },
		"an address of a file":               func(o *Options) { o.URL = "file:///etc" },
		"an address with a query":            func(o *Options) { o.URL += "/?tenant=x" },
		"an address with an empty query":     func(o *Options) { o.URL += "/?" },
		"an address with a fragment":         func(o *Options) { o.URL += "/#x" },
		"an address with a user":             func(o *Options) { o.URL = "https://ann@billing.example.com" },
		"no key":                             func(o *Options) { o.Key = nil },
		"no spool":                           func(o *Options) { o.Spool = "" },
		"batches above the limit of records": func(o *Options) { o.BatchRecords = 5_001 },
		"batches above the limit of bytes":   func(o *Options) { o.BatchBytes = 1 << 20 },
		"an interval that is too short":      func(o *Options) { o.Interval = time.Millisecond },
		"a wait that is negative":            func(o *Options) { o.BatchWait = -1 },
		"a wait that is too long":            func(o *Options) { o.BatchWait = math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			_, err := b.tryOpen(change)
			wantError(t, err, InvalidOptions)
			b.wantFiles()
		})
	}
}

func TestTheAddressOfReports(t *testing.T) {
	for base, want := range map[string]string{
		"https://billing.test":         "https://billing.test/v1/usage",
		"https://billing.test/":        "https://billing.test/v1/usage",
		"http://127.0.0.1:80/billing/": "http://127.0.0.1:80/billing/v1/usage",
	} {
		b := newBench(t)
		b.greet(func(o *Options) { o.URL = base })
		b.service.look(func() { wantEqual(t, b.service.received[0].url, want) })
	}
}

func TestTwoStartsNeverCreateTheSameID(t *testing.T) {
	b := newBench(t)
	ids := map[string]bool{}
	for range 3 {
		reporter := b.open()
		for _, id := range b.store(reporter, usagesOf(5)...) {
			ids[id] = true
		}
		reporter.Close(context.Background())
	}
	wantEqual(t, len(ids), 15)
	wantEqual(t, len(b.service.chargedIDs()), 15)
}

func TestNoEventAndNoLogQuotesTheKey(t *testing.T) {
	b := newBench(t)
	b.service.acceptKey = onlyKey("")
	var mu sync.Mutex
	var logs bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	reporter := b.open(records(1), func(o *Options) {
		o.Key = Key("svc_secret")
		o.Logger = slog.New(lockedHandler{logger.Handler(), &mu})
	})
	b.store(reporter, usageOf())
	b.until("the refusal", func() bool { return len(eventsOf[KeyRefused](b)) > 0 })
	reporter.Close(ended())
	told := fmt.Sprintf("%+v", b.events) + logs.String()
	if strings.Contains(told, "svc_secret") {
		t.Errorf("told: %s", told)
	}
	if !strings.Contains(logs.String(), `"msg":"key_refused"`) {
		t.Errorf("logged: %s", logs.String())
	}
}

type lockedHandler struct {
	slog.Handler
	mu *sync.Mutex
}

func (h lockedHandler) Handle(ctx context.Context, record slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Handler.Handle(ctx, record)
}

// Real time, a real connection, and the default client.
func TestTheReporterOverHTTP(t *testing.T) {
	service := &fakeService{charged: map[string]wireRecord{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := service.RoundTrip(r)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	defer server.Close()
	reporter, err := Open(Options{
		URL: server.URL, Key: Key("relay-key"), Spool: t.TempDir(), RelayID: "relay-7", BatchWait: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := reporter.Record(context.Background(), usageOf())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, reporter.Close(context.Background()), 0)
	wantEqual(t, service.chargedIDs(), ids)
}
