package usage

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/internal/wait"
)

const (
	// sameKeyWait: a refused key is tried again after this time, in case the refusal was a mistake.
	sameKeyWait = time.Minute
	// pollWait is the time from an answer to the empty batch that asks for admission, plus or minus pollJitter of it.
	pollWait   = 15 * time.Second
	pollJitter = 0.2
	retryMax   = time.Minute
)

type senderOptions struct {
	url       string
	keySource KeySource
	limits    batchLimits
	// batchWait is how long the first record of a batch waits for more.
	batchWait time.Duration
	client    *http.Client
	clock     Clock
	random    func() float64
	spool     *spool
	admission *admission
	emit      emit
}

// sender sends the records of the spool, oldest first, one request at a time, until all are sent.
//
// Source: specification 4.12, charging rule 4. The number of attempts is unlimited: a record leaves the spool only when
// the service has answered for it. All fields belong to the goroutine of run, but for the channels and contexts.
type sender struct {
	senderOptions
	backoff *wait.Backoff
	// life ends to stop at once; polls, to stop when all is sent.
	life, polls       context.Context
	endLife, endPolls context.CancelFunc
	changed           chan struct{}
	done              chan struct{}

	key string
	// refusedKey was refused at refusedAt.
	refusedKey string
	refusedAt  time.Duration
	// Monotonic times: the earliest time of the next request, and of the next empty batch.
	notBefore, pollAt time.Duration
}

// startSender starts to send. It ends with drain.
func startSender(options senderOptions, changed chan struct{}) *sender {
	s := &sender{
		senderOptions: options,
		backoff:       wait.NewBackoff(options.random, retryMax),
		changed:       changed,
		done:          make(chan struct{}),
		notBefore:     options.clock.Now(),
		pollAt:        options.clock.Now(),
	}
	s.life, s.endLife = context.WithCancel(context.Background())
	s.polls, s.endPolls = context.WithCancel(s.life)
	go s.run()
	return s
}

// drain sends sealed segments until all are sent or the context ends; then it stops.
func (s *sender) drain(ctx context.Context) {
	stop := context.AfterFunc(ctx, s.endLife)
	defer stop()
	s.endPolls()
	<-s.done
	s.endLife()
}

func (s *sender) run() {
	defer close(s.done)
	for s.life.Err() == nil {
		if oldest := s.spool.oldest(); oldest != nil {
			s.sendSegment(oldest)
			continue
		}
		if s.polls.Err() != nil {
			return
		}
		s.waitOrPoll()
	}
}

// waitOrPoll does what is due while there is no segment to send, or waits for it.
func (s *sender) waitOrPoll() {
	now := s.clock.Now()
	batchAt := time.Duration(math.MaxInt64)
	if since, ok := s.spool.openSince(); ok {
		batchAt = since + s.batchWait
	}
	pollAt := max(s.pollAt, s.notBefore)
	switch {
	case batchAt <= now:
		s.spool.seal()
	case pollAt <= now:
		s.attempt(s.polls, nil)
	default:
		s.sleep(min(batchAt, pollAt) - now)
	}
}

// sleep waits until something changes, or the polls end.
func (s *sender) sleep(d time.Duration) {
	over := make(chan struct{})
	stop := s.clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-s.changed:
	case <-s.polls.Done():
	}
}

// sendSegment settles every record of a segment, unless the sender is stopped: accepted, or quarantined.
func (s *sender) sendSegment(from *segment) {
	lines, ok := s.spool.read(from)
	if !ok {
		return
	}
	isSettled := true
	for _, batch := range splitBatches(lines, s.limits) {
		isBatchSettled, err := s.sendBatch(batch, from)
		if err != nil {
			return
		}
		isSettled = isSettled && isBatchSettled
	}
	s.spool.settle(from, !isSettled)
}

// sendBatch halves a refused batch until the faulty records are isolated, so that they do not hold up the others. False
// means that a person should inspect the segment. Its error is that of the sender's end.
func (s *sender) sendBatch(lines []string, from *segment) (isSettled bool, err error) {
	answer, err := s.sendUntilAnswered(lines)
	if err != nil {
		return false, err
	}
	if answer.kind == accepted {
		return s.countsAgree(answer, int64(len(lines)), from), nil
	}
	if len(lines) == 1 {
		return s.quarantine(lines[0], answer.message, from), nil
	}
	middle := len(lines) / 2
	isFirstSettled, err := s.sendBatch(lines[:middle], from)
	if err != nil {
		return false, err
	}
	isSecondSettled, err := s.sendBatch(lines[middle:], from)
	return isFirstSettled && isSecondSettled, err
}

func (s *sender) countsAgree(answer outcome, records int64, from *segment) bool {
	if answer.charged+answer.duplicates+answer.unbilled == records {
		s.emit(BatchAccepted{records, answer.charged, answer.duplicates, answer.unbilled})
		return true
	}
	s.emit(CountsDiffer{records, answer.charged, answer.duplicates, answer.unbilled, s.spool.keptPath(from)})
	return false
}

// quarantine puts a record aside. If the quarantine cannot be written, as on a full disk, the segment itself is kept.
func (s *sender) quarantine(line, message string, from *segment) bool {
	var record struct{ ID string }
	_ = json.Unmarshal([]byte(line), &record)
	err := s.spool.quarantine(line, message)
	file := s.spool.quarantinePath()
	if err != nil {
		file = s.spool.keptPath(from)
	}
	s.emit(RecordQuarantined{ID: record.ID, Message: message, File: file})
	return err == nil
}

// sendUntilAnswered repeats the same batch until the service accepts or refuses it. Its error is that of the sender's
// end.
func (s *sender) sendUntilAnswered(lines []string) (outcome, error) {
	for {
		answer, ok := s.attempt(s.life, lines)
		if err := s.life.Err(); err != nil {
			return outcome{}, err
		}
		if ok && answer.kind == refused && len(lines) == 1 {
			// Before a record is condemned: a service that refuses even an empty batch says nothing about the record.
			_, ok = s.attempt(s.life, nil)
		}
		if ok {
			return answer, nil
		}
	}
}

// attempt makes one request, at its time. It reports whether the service accepted or refused the batch. Otherwise it is
// to be sent again, and the wait is already set.
func (s *sender) attempt(ctx context.Context, lines []string) (answer outcome, ok bool) {
	wait.Pause(ctx, s.clock, s.notBefore-s.clock.Now())
	key, ok := s.currentKey(ctx)
	if !ok || ctx.Err() != nil {
		return outcome{}, false
	}
	answer = post{url: s.url, key: key, body: renderBatch(lines), client: s.client, clock: s.clock}.send(ctx)
	switch answer.kind {
	case accepted:
		s.noteAccepted(answer)
		return answer, true
	case refused:
		if len(lines) > 0 {
			return answer, true
		}
		s.retryLater(outcome{reason: RetryUnexpectedAnswer, status: answer.status})
	case keyRefused:
		s.key, s.refusedKey, s.refusedAt = "", key, s.clock.Now()
		s.emit(KeyRefused{Retry: s.delay(0)})
	case retryable:
		if ctx.Err() == nil {
			s.retryLater(answer)
		}
	}
	return outcome{}, false
}

func (s *sender) noteAccepted(answer outcome) {
	s.backoff.Reset()
	s.refusedKey = ""
	jitter := 1 + pollJitter*(2*s.random()-1)
	s.pollAt = s.clock.Now() + time.Duration(float64(pollWait)*jitter)
	s.admission.set(answer.isAdmitted)
}

// currentKey returns the key to send with. It reports whether there is one.
func (s *sender) currentKey(ctx context.Context) (key string, ok bool) {
	if s.key != "" {
		return s.key, true
	}
	key, err := readKey(ctx, s.keySource, s.clock)
	if err != nil {
		if ctx.Err() == nil {
			s.emit(KeyFailed{Cause: err, Retry: s.delay(0)})
		}
		return "", false
	}
	if key == s.refusedKey && s.clock.Now()-s.refusedAt < sameKeyWait {
		s.delay(0)
		return "", false
	}
	s.key = key
	return key, true
}

func (s *sender) retryLater(failed outcome) {
	retry := s.delay(failed.after)
	s.emit(SendFailed{
		Reason:  failed.reason,
		Status:  failed.status,
		Cause:   failed.cause,
		Attempt: s.backoff.Failures(),
		Retry:   retry,
	})
}

// delay delays the next request, after a failure.
func (s *sender) delay(atLeast time.Duration) time.Duration {
	delay := s.backoff.Next(atLeast)
	s.notBefore = s.clock.Now() + delay
	return delay
}
