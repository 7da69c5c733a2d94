package usage

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/wait"
	"boxoffice.example/boxoffice/sdk/go/relay/internal/web"
)

// closeWait is how long Close sends if its context has no deadline.
const closeWait = 5 * time.Second

// Options are the service, the spool folder, and the limits of batches. A zero value is the default.
type Options struct {
	// URL is the base URL of the service: https://billing.example.com. Required.
	URL string
	// Key is the source of the relay key: see [Key] and [KeyFile]. Required.
	Key KeySource
	// Spool is a folder on a local disk for this reporter alone. It is created if necessary. Required.
	Spool string
	// RelayID names the relay within its tenant: 1 to 64 of A-Z a-z 0-9 _ -. Required.
	RelayID string
	// OnEvent is called for every event, from several goroutines. It must not call [Reporter.Close].
	OnEvent func(Event)
	// Logger gets every event, with its type as the message. Default: none.
	Logger *slog.Logger
	// Interval is how often running sessions become records, 1 second to 1 hour. Default 30 seconds.
	Interval time.Duration
	// BatchRecords: a batch is sent when it has this many records, at most 5,000. Default 1,000.
	BatchRecords int
	// BatchBytes: or this many bytes, below 1 MiB. Default 700,000.
	BatchBytes int
	// BatchWait: or when its first record is this old, at most 1 hour. Default 5 seconds.
	BatchWait time.Duration
	// HTTPClient sends the batches. It follows no redirections. Default: one with the proxy of the environment.
	HTTPClient *http.Client
	// Clock is for tests.
	Clock Clock
	// Random returns numbers from 0 to 1, for tests.
	Random func() float64
}

// Pending counts unsettled records on disk.
type Pending struct {
	// Segments are files, and Records are in them.
	Segments, Records int
}

// Reporter accepts usage, stores records on disk, and sends batches, until [Reporter.Close]. It is for concurrent use.
type Reporter struct {
	options   Options
	spool     *spool
	sender    *sender
	sessions  *sessions
	admission *admission
	closeIdle func()
	// idPrefix is unique to this start, so that a restarted relay uses no id twice.
	idPrefix  string
	intervals atomic.Int64
	isClosed  atomic.Bool
	closing   sync.Once
	// left is what Close found.
	left int
}

// Open starts a reporter. Its error is [InvalidOptions] or [SpoolInUse], or the file system's error about the folder.
func Open(options Options) (*Reporter, error) {
	address, err := options.complete()
	if err != nil {
		return nil, err
	}
	limits := batchLimits{records: options.BatchRecords, bytes: options.BatchBytes}
	emit := emitTo(options.Logger, options.OnEvent)
	changed := make(chan struct{}, 1)
	var reporter *Reporter
	spool, err := openSpool(spoolOptions{
		folder: options.Spool,
		limits: limits,
		clock:  options.Clock,
		emit:   emit,
		onChange: func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
		running: func() []string { return reporter.runningLines() },
	})
	if err != nil {
		return nil, err
	}
	client, closeIdle := web.Client(options.HTTPClient, web.Return)
	prefix := make([]byte, 6)
	_, _ = rand.Read(prefix)
	reporter = &Reporter{
		options:   options,
		spool:     spool,
		admission: newAdmission(emit),
		closeIdle: closeIdle,
		idPrefix:  options.RelayID + "." + base64.RawURLEncoding.EncodeToString(prefix),
	}
	reporter.sessions = newSessions(sessionsOptions{
		interval: options.Interval,
		clock:    options.Clock,
		emit:     emit,
		newID:    reporter.newID,
		record: func(next unrecorded) *appending {
			_, added := reporter.storeAs(next)
			return added
		},
		checkpoint: spool.checkpoint,
	})
	reporter.sender = startSender(senderOptions{
		url:       address,
		keySource: options.Key,
		limits:    limits,
		batchWait: options.BatchWait,
		client:    client,
		clock:     options.Clock,
		random:    options.Random,
		spool:     spool,
		admission: reporter.admission,
		emit:      emit,
	}, changed)
	return reporter, nil
}

// complete fills in defaults, and checks the options. It returns the address of reports.
func (o *Options) complete() (address string, err error) {
	setDefault(&o.Interval, 30*time.Second)
	setDefault(&o.BatchRecords, 1_000)
	setDefault(&o.BatchBytes, 700_000)
	setDefault(&o.BatchWait, 5*time.Second)
	if o.Clock == nil {
		o.Clock = wait.System()
	}
	if o.Random == nil {
		o.Random = mathrand.Float64
	}
	base, err := url.Parse(o.URL)
	switch {
	case err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http"):
		return "", invalidOptions("URL must be an address with http")
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || strings.Contains(o.URL, "#"):
		return "", invalidOptions("URL must have no user, query or fragment")
	case o.Key == nil:
		return "", invalidOptions("Key is required")
	case o.Spool == "":
		return "", invalidOptions("Spool is required")
	case !idPart.MatchString(o.RelayID):
		return "", invalidOptions("RelayID must be 1 to 64 of A-Z a-z 0-9 _ -")
	case o.Interval < time.Second || o.Interval > time.Hour:
		return "", invalidOptions("Interval must be from 1s to 1h")
	case o.BatchRecords < 1 || o.BatchRecords > batchRecordsMax:
		return "", invalidOptions("BatchRecords must be from 1 to %d", batchRecordsMax)
	case o.BatchBytes < 1 || o.BatchBytes > batchBytesMax:
		return "", invalidOptions("BatchBytes must be from 1 to %d", batchBytesMax)
	case o.BatchWait < 0 || o.BatchWait > time.Hour:
		return "", invalidOptions("BatchWait must be from 0 to 1h")
	}
	return base.Scheme + "://" + base.Host + strings.TrimRight(base.EscapedPath(), "/") + "/v1/usage", nil
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

func invalidOptions(format string, values ...any) error {
	return &Error{Code: InvalidOptions, message: fmt.Sprintf(format, values...)}
}

// Admitted returns whether new participants may come in. While it is [NotAdmitted], admit none. It starts as [Unknown],
// and keeps its value while the service is unreachable.
func (r *Reporter) Admitted() AdmittedState { return r.admission.get() }

// Pending returns the number of unsettled records on disk.
func (r *Reporter) Pending() Pending { return r.spool.pending() }

// Record stores the usage of one participant in one interval. It returns the ids once they are on disk.
//
// After any error, nothing was stored: [InvalidUsage], [SpoolFailed], [SpoolBroken], [Closed], or that of the context.
// After [SpoolFailed] the same usage may be recorded again.
func (r *Reporter) Record(ctx context.Context, record Record) (ids []string, err error) {
	if r.isClosed.Load() {
		return nil, errClosed()
	}
	ids, added := r.store(record)
	if err := r.spool.wait(ctx, added); err != nil {
		return nil, err
	}
	return ids, nil
}

// StartSession measures the usage of a participant from now on, and records it in intervals. Its error is
// [InvalidUsage] or [Closed].
func (r *Reporter) StartSession(start SessionStart) (*Session, error) {
	return r.sessions.begin(start)
}

// Sync writes to disk now what Record was given, rather than within 200 ms.
func (r *Reporter) Sync() { r.spool.sync() }

// Close ends all sessions, writes everything to disk, and sends until all is sent or the context ends; for 5 seconds at
// most if the context has no deadline. The rest is sent at the next start. It returns its number of records.
func (r *Reporter) Close(ctx context.Context) (left int) {
	r.closing.Do(func() { r.close(ctx) })
	return r.left
}

func (r *Reporter) close(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		stop := r.options.Clock.AfterFunc(closeWait, cancel)
		defer stop()
	}
	r.isClosed.Store(true)
	waitForSessions := r.sessions.close()
	r.spool.seal()
	waitForSessions()
	// An interval that a session began to store meanwhile.
	r.spool.seal()
	r.sender.drain(ctx)
	r.left = r.spool.pending().Records
	r.spool.close()
	r.closeIdle()
}

// newID creates an id, once. It is stored, and every attempt to send repeats it.
func (r *Reporter) newID(sessionID string) string {
	if sessionID == "" {
		sessionID = "0"
	}
	return fmt.Sprintf("%s.%s.%d", r.idPrefix, sessionID, r.intervals.Add(1)-1)
}

func (r *Reporter) store(record Record) (ids []string, added *appending) {
	return r.storeAs(unrecorded{id: r.newID(record.SessionID), record: record})
}

func (r *Reporter) storeAs(next unrecorded) (ids []string, added *appending) {
	if err := next.record.check(); err != nil {
		return nil, refusedAppending(err)
	}
	ids, lines, err := next.render()
	if err != nil {
		return nil, refusedAppending(err)
	}
	return ids, r.spool.append(lines)
}

// runningLines returns the records that running sessions would become if they ended now.
func (r *Reporter) runningLines() (all []string) {
	for _, each := range r.sessions.unrecorded() {
		// What is too long for a record is refused when it is recorded.
		if _, lines, err := each.render(); err == nil {
			all = append(all, lines...)
		}
	}
	return all
}

// render returns the ids and lines of a record. More than a day becomes several, whose ids follow from the first one.
func (u unrecorded) render() (ids, lines []string, err error) {
	for index, part := range u.record.splitByDay() {
		id := u.id
		if index > 0 {
			id = fmt.Sprintf("%s.%d", u.id, index)
		}
		line, err := part.render(id)
		if err != nil {
			return nil, nil, err
		}
		ids, lines = append(ids, id), append(lines, line)
	}
	return ids, lines, nil
}
