package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/clocktest"
)

// received is one request.
type received struct {
	url, body, key string
	records        []wireRecord
}

// fault replaces the regular answer of one request.
type fault struct {
	kind   string
	status int
	text   string
	header http.Header
}

func answer(status int, text string) fault { return fault{kind: "answer", status: status, text: text} }

// fakeService is POST /v1/usage as a reporter sees it, with faults on demand.
type fakeService struct {
	mu       sync.Mutex
	charged  map[string]wireRecord
	order    []string
	received []received
	// conflicts are ids that were reported again with other values.
	conflicts             []string
	faults                []fault
	isClosed, isExempt    bool
	isBad                 func(wireRecord) bool
	acceptKey             func(string) bool
	bodyMax               int
	inFlight, inFlightMax int
}

var errNetwork = errors.New("connection refused")

func (s *fakeService) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var batch struct{ Records []wireRecord }
	if err := json.Unmarshal(body, &batch); err != nil {
		return nil, err
	}
	key := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.received = append(s.received, received{request.URL.String(), string(body), key, batch.Records})
	s.inFlight++
	s.inFlightMax = max(s.inFlightMax, s.inFlight)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.inFlight--
		s.mu.Unlock()
	}()
	return s.answer(request.Context(), key, len(body), batch.Records)
}

func (s *fakeService) answer(ctx context.Context, key string, size int, records []wireRecord) (*http.Response, error) {
	s.mu.Lock()
	var fault fault
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	if fault.kind == "hang" {
		s.mu.Unlock()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	defer s.mu.Unlock()
	switch {
	case fault.kind == "refuse_connection":
		return nil, errNetwork
	case fault.kind == "answer":
		return response(fault.status, fault.text, fault.header), nil
	case s.bodyMax > 0 && size > s.bodyMax:
		return response(413, "too large", nil), nil
	case s.acceptKey != nil && !s.acceptKey(key):
		return response(401, `{"error":"invalid api key"}`, nil), nil
	}
	status, text := s.charge(records)
	switch fault.kind {
	case "lose_answer":
		return nil, errNetwork
	case "cut_answer":
		return response(status, text[:len(text)/2], nil), nil
	}
	return response(status, text, nil), nil
}

func response(status int, text string, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text))}
}

func (s *fakeService) charge(records []wireRecord) (status int, text string) {
	if s.isBad != nil {
		if bad := slices.IndexFunc(records, s.isBad); bad >= 0 {
			return 400, fmt.Sprintf(`{"error":"invalid request: records/%d/role"}`, bad)
		}
	}
	charged := 0
	for _, record := range records {
		known, isKnown := s.charged[record.ID]
		if isKnown && known != record {
			s.conflicts = append(s.conflicts, record.ID)
		}
		if !isKnown {
			charged++
			s.charged[record.ID] = record
			s.order = append(s.order, record.ID)
		}
	}
	counts := map[string]any{
		"charged": charged, "duplicates": len(records) - charged, "unbilled": 0, "admitted": !s.isClosed,
		"total": map[string]any{"micros": charged},
	}
	if s.isExempt {
		counts["charged"], counts["unbilled"] = 0, charged
	}
	body, _ := json.Marshal(counts)
	return 200, string(body)
}

// look reads or changes the service while no request does.
func (s *fakeService) look(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *fakeService) chargedIDs() (ids []string) {
	s.look(func() { ids = slices.Clone(s.order) })
	return ids
}

// batches are the requests that carried records.
func (s *fakeService) batches() (batches []received) {
	s.look(func() {
		for _, each := range s.received {
			if len(each.records) > 0 {
				batches = append(batches, each)
			}
		}
	})
	return batches
}

func (s *fakeService) requests() (count int) {
	s.look(func() { count = len(s.received) })
	return count
}

func (s *fakeService) fail(faults ...fault) {
	s.look(func() { s.faults = append(s.faults, faults...) })
}

func times(count int, each fault) []fault {
	return slices.Repeat([]fault{each}, count)
}

// bench has a fresh folder, clock, service and events for a test. What it opens is closed after the test.
type bench struct {
	t       *testing.T
	folder  string
	clock   *clocktest.Clock
	service *fakeService

	mu     sync.Mutex
	events []Event
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	return &bench{
		t:       t,
		folder:  t.TempDir(),
		clock:   clocktest.New(noon),
		service: &fakeService{charged: map[string]wireRecord{}},
	}
}

func (b *bench) note(event Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, event)
}

// eventsOf returns the events of one type.
func eventsOf[E Event](b *bench) []E {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []E
	for _, event := range b.events {
		if of, ok := event.(E); ok {
			found = append(found, of)
		}
	}
	return found
}

func offline(o *Options) { o.HTTPClient = &http.Client{Transport: noTransport{}} }

type noTransport struct{}

func (noTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNetwork }

func records(count int) func(*Options) { return func(o *Options) { o.BatchRecords = count } }

func (b *bench) tryOpen(changes ...func(*Options)) (*Reporter, error) {
	options := Options{
		URL:        "https://billing.test",
		Key:        Key("relay-key"),
		Spool:      b.folder,
		RelayID:    "relay-7",
		OnEvent:    b.note,
		HTTPClient: &http.Client{Transport: b.service},
		Clock:      b.clock,
		Random:     func() float64 { return 1 },
	}
	for _, change := range changes {
		change(&options)
	}
	reporter, err := Open(options)
	if err == nil {
		b.t.Cleanup(func() { reporter.Close(ended()) })
	}
	return reporter, err
}

func (b *bench) open(changes ...func(*Options)) *Reporter {
	b.t.Helper()
	reporter, err := b.tryOpen(changes...)
	if err != nil {
		b.t.Fatal(err)
	}
	return reporter
}

// greet opens a reporter and waits for its first answer.
func (b *bench) greet(changes ...func(*Options)) *Reporter {
	b.t.Helper()
	reporter := b.open(changes...)
	b.until("the first answer", func() bool { return reporter.Admitted() != Unknown })
	return reporter
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// until waits, without advancing time.
func (b *bench) until(what string, condition func() bool) {
	b.t.Helper()
	for start := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			b.t.Fatalf("did not happen: %s", what)
		}
	}
}

// untilTimer waits until somebody waits for this time.
func (b *bench) untilTimer(d time.Duration) {
	b.t.Helper()
	b.until(fmt.Sprintf("a timer of %s", d), func() bool { return slices.Contains(b.clock.Timers(), d) })
}

// pass advances time in steps until a condition holds.
func (b *bench) pass(step time.Duration, what string, condition func() bool) {
	b.t.Helper()
	b.until(what, func() bool {
		b.clock.Advance(step)
		return condition()
	})
}

func (b *bench) untilCharged(count int) {
	b.t.Helper()
	b.until(fmt.Sprintf("%d charged", count), func() bool { return len(b.service.chargedIDs()) == count })
}

func (b *bench) untilSettled(reporter *Reporter) {
	b.t.Helper()
	b.until("all settled", func() bool { return reporter.Pending() == Pending{} })
}

// files are those of the spool, without locks.
func (b *bench) files() []string {
	b.t.Helper()
	return b.namesWhere(func(name string) bool { return !strings.HasPrefix(name, lockPrefix) })
}

func (b *bench) namesWhere(matches func(string) bool) []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		b.t.Fatal(err)
	}
	names := []string{}
	for _, entry := range entries {
		if matches(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func (b *bench) wantFiles(want ...string) {
	b.t.Helper()
	if got := b.files(); !slices.Equal(got, want) {
		b.t.Errorf("the files are %v, want %v", got, want)
	}
}

func (b *bench) read(name string) []byte {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

func (b *bench) write(name string, parts ...[]byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, name), bytes.Join(parts, nil), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func segmentNamed(number int) string { return fmt.Sprintf("%010d.segment", number) }

// idsOf returns the ids in a segment.
func (b *bench) idsOf(name string) []string {
	b.t.Helper()
	ids := []string{}
	for _, line := range parseSegment(b.read(name)).lines {
		var record wireRecord
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			b.t.Fatal(err)
		}
		ids = append(ids, record.ID)
	}
	return ids
}

// store stores usage at once, regardless of the clock.
func (b *bench) store(reporter *Reporter, usages ...Record) []string {
	b.t.Helper()
	var ids []string
	var waiting []*appending
	for _, usage := range usages {
		stored, added := reporter.store(usage)
		ids, waiting = append(ids, stored...), append(waiting, added)
	}
	reporter.Sync()
	for _, each := range waiting {
		if err := reporter.spool.wait(context.Background(), each); err != nil {
			b.t.Fatal(err)
		}
	}
	return ids
}

func usageOf(changes ...func(*Record)) Record {
	usage := Record{Role: Host, Tier: HD, Seconds: 60, EgressBytes: 50_000_000, IngressBytes: 1_000_000}
	for _, change := range changes {
		change(&usage)
	}
	return usage
}

func usagesOf(count int, changes ...func(*Record)) []Record {
	var all []Record
	for index := range count {
		usage := usageOf(changes...)
		usage.Participant = fmt.Sprintf("p-%d", index)
		all = append(all, usage)
	}
	return all
}

func wantEqual(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func wantError(t *testing.T, err error, want ErrorCode) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
