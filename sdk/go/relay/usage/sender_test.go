package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestBatchesGoOutFiveSecondsAfterTheirFirstRecord(t *testing.T) {
	b := newBench(t)
	reporter := b.greet()
	ids := b.store(reporter, usagesOf(3)...)
	b.untilTimer(5 * time.Second)
	b.clock.Advance(5*time.Second - time.Millisecond)
	time.Sleep(10 * time.Millisecond)
	wantEqual(t, len(b.service.batches()), 0)
	b.clock.Advance(time.Millisecond)
	b.untilSettled(reporter)
	wantEqual(t, b.service.chargedIDs(), ids)
	b.wantFiles()
	wantEqual(t, eventsOf[BatchAccepted](b), []BatchAccepted{{Records: 3, Charged: 3}})
}

func TestBatchesGoOutAtOnceWithEnoughRecords(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(10))
	b.store(reporter, usagesOf(25)...)
	b.untilCharged(20)
	wantEqual(t, len(b.service.batches()), 2)
	b.pass(time.Second, "the rest", func() bool { return len(b.service.chargedIDs()) == 25 })
}

func TestBatchesGoOutAtOnceWithEnoughBytes(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(func(o *Options) { o.BatchBytes = 5_000 })
	b.store(reporter, usagesOf(50, func(r *Record) { r.Room = strings.Repeat("🎭界ß", 20) })...)
	b.pass(time.Second, "all charged", func() bool { return len(b.service.chargedIDs()) == 50 })
	for _, batch := range b.service.batches() {
		if len(batch.body) > 5_000 {
			t.Errorf("a body has %d bytes", len(batch.body))
		}
	}
	if count := len(b.service.batches()); count >= 10 {
		t.Errorf("%d batches", count)
	}
}

func TestBatchesNeverOverlap(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(5))
	b.store(reporter, usagesOf(100)...)
	b.untilCharged(100)
	wantEqual(t, b.service.inFlightMax, 1)
}

func TestBatchesOfAnExemptTenantAreSettledToo(t *testing.T) {
	b := newBench(t)
	b.service.isExempt = true
	reporter := b.greet(records(2))
	b.store(reporter, usagesOf(2)...)
	b.untilSettled(reporter)
	wantEqual(t, eventsOf[BatchAccepted](b), []BatchAccepted{{Records: 2, Unbilled: 2}})
}

func TestCountsThatDiffer(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(2))
	b.service.fail(answer(200, `{"charged":1,"duplicates":0,"unbilled":0,"admitted":true}`))
	b.store(reporter, usagesOf(2)...)
	b.untilSettled(reporter)
	kept := filepath.Join(b.folder, "0000000001.kept")
	wantEqual(t, eventsOf[CountsDiffer](b), []CountsDiffer{{Records: 2, Charged: 1, File: kept}})
	b.wantFiles("0000000001.kept")
}

func TestAFailedAttemptIsRepeatedByteByByte(t *testing.T) {
	for name, each := range map[string]struct {
		fault  fault
		reason RetryReason
		status int
	}{
		"no connection":         {fault{kind: "refuse_connection"}, RetryNetwork, 0},
		"a lost answer":         {fault{kind: "lose_answer"}, RetryNetwork, 0},
		"half an answer":        {fault{kind: "cut_answer"}, RetryUnexpectedAnswer, 200},
		"500":                   {answer(500, `{"error":"internal error"}`), RetryServerError, 500},
		"503":                   {answer(503, ""), RetryServerError, 503},
		"200 of another server": {answer(200, "<html>Log in</html>"), RetryUnexpectedAnswer, 200},
		"404":                   {answer(404, `{"error":"not found"}`), RetryUnexpectedAnswer, 404},
		"a redirect": {
			fault{kind: "answer", status: 307, header: http.Header{"Location": {"https://x.test"}}}, RetryUnexpectedAnswer, 307,
		},
		"400 of another server": {answer(400, "Bad Request"), RetryUnexpectedAnswer, 400},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			reporter := b.greet(records(3))
			b.service.fail(each.fault)
			ids := b.store(reporter, usagesOf(3)...)
			b.until("a failure", func() bool { return len(eventsOf[SendFailed](b)) == 1 })
			failed := eventsOf[SendFailed](b)[0]
			failed.Cause = nil
			wantEqual(t, failed, SendFailed{Reason: each.reason, Status: each.status, Attempt: 1, Retry: 500 * time.Millisecond})
			wantEqual(t, reporter.Pending().Records, 3)
			b.untilTimer(500 * time.Millisecond)
			b.clock.Advance(499 * time.Millisecond)
			wantEqual(t, len(b.service.batches()), 1)
			b.clock.Advance(time.Millisecond)
			b.untilSettled(reporter)
			batches := b.service.batches()
			wantEqual(t, batches[1].body, batches[0].body)
			wantEqual(t, b.service.chargedIDs(), ids)
			wantEqual(t, b.service.conflicts, []string(nil))
		})
	}
}

func TestAnAttemptWithoutAnAnswerFor30SecondsIsRepeated(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(1))
	b.service.fail(fault{kind: "hang"})
	b.store(reporter, usageOf())
	b.until("a request", func() bool { return len(b.service.batches()) == 1 })
	b.clock.Advance(30*time.Second - time.Millisecond)
	wantEqual(t, len(eventsOf[SendFailed](b)), 0)
	b.clock.Advance(time.Millisecond)
	b.until("a timeout", func() bool { return len(eventsOf[SendFailed](b)) == 1 })
	wantEqual(t, eventsOf[SendFailed](b)[0].Reason, RetryTimeout)
	b.untilTimer(500 * time.Millisecond)
	b.clock.Advance(500 * time.Millisecond)
	b.untilCharged(1)
}

func TestAnAttemptIsRetriedWithoutEndWithDoublingDelays(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(1))
	b.service.fail(times(200, answer(503, ""))...)
	b.store(reporter, usageOf())
	b.pass(30*time.Second, "charged", func() bool { return len(b.service.chargedIDs()) == 1 })
	var delays []int64
	for _, failed := range eventsOf[SendFailed](b) {
		delays = append(delays, failed.Retry.Milliseconds())
	}
	wantEqual(t, delays[:9], []int64{500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000})
	wantEqual(t, len(delays), 200)
}

func TestAnAttemptIsRetriedAtARandomTimeBeforeThat(t *testing.T) {
	b := newBench(t)
	random := rand.New(rand.NewPCG(7, 8))
	reporter := b.greet(records(1), func(o *Options) { o.Random = random.Float64 })
	b.service.fail(times(300, answer(500, ""))...)
	b.store(reporter, usageOf())
	b.pass(30*time.Second, "charged", func() bool { return len(b.service.chargedIDs()) == 1 })
	late := eventsOf[SendFailed](b)[7:]
	byRetry := func(one, other SendFailed) int { return int(one.Retry - other.Retry) }
	if least := slices.MinFunc(late, byRetry).Retry; least > 6*time.Second {
		t.Errorf("the least is %s", least)
	}
	if most := slices.MaxFunc(late, byRetry).Retry; most < 54*time.Second || most > time.Minute {
		t.Errorf("the most is %s", most)
	}
}

func TestDelaysRestartAfterASuccess(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(1))
	for round := 1; round <= 2; round++ {
		b.service.fail(answer(500, ""), answer(500, ""))
		b.store(reporter, usageOf())
		b.pass(500*time.Millisecond, "charged", func() bool { return len(b.service.chargedIDs()) == round })
	}
	var delays []int64
	for _, failed := range eventsOf[SendFailed](b) {
		delays = append(delays, failed.Retry.Milliseconds())
	}
	wantEqual(t, delays, []int64{500, 1_000, 500, 1_000})
}

func TestFailuresDoNotBlockNewRecordsWhichFollowInOrder(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(10))
	b.service.fail(times(5, answer(500, ""))...)
	ids := b.store(reporter, usagesOf(35)...)
	b.pass(500*time.Millisecond, "charged", func() bool { return len(b.service.chargedIDs()) == 35 })
	wantEqual(t, b.service.chargedIDs(), ids)
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"42":                            42 * time.Second,
		"Sun, 01 Mar 2026 12:01:30 GMT": 90 * time.Second,
		"Sun, 01 Mar 2026 11:00:00 GMT": 500 * time.Millisecond,
		"soon":                          500 * time.Millisecond,
		"-5":                            500 * time.Millisecond,
		"99999999999":                   time.Hour,
		"99999999999999999999999":       time.Hour,
	} {
		t.Run(header, func(t *testing.T) {
			b := newBench(t)
			reporter := b.greet(records(1))
			limited := fault{kind: "answer", status: 429, header: http.Header{"Retry-After": {header}}}
			b.service.fail(limited)
			b.store(reporter, usageOf())
			b.until("a failure", func() bool { return len(eventsOf[SendFailed](b)) == 1 })
			wantEqual(t, eventsOf[SendFailed](b)[0], SendFailed{Reason: RetryRateLimited, Status: 429, Attempt: 1, Retry: want})
			// A wall clock that is set neither shortens nor extends it.
			b.untilTimer(want)
			b.clock.SetWall(noon.AddDate(10, 0, 0))
			b.clock.Advance(want - time.Millisecond)
			wantEqual(t, len(b.service.batches()), 1)
			b.clock.SetWall(noon.AddDate(-30, 0, 0))
			b.clock.Advance(time.Millisecond)
			b.untilCharged(1)
		})
	}
}

func TestBadRecordsBlockNoOtherInFewRequests(t *testing.T) {
	for _, bad := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			b := newBench(t)
			names := map[string]bool{}
			for index := range bad {
				names[fmt.Sprintf("p-%d", 97+index*181)] = true
			}
			b.service.isBad = func(record wireRecord) bool { return names[record.Participant] }
			reporter := b.greet()
			ids := b.store(reporter, usagesOf(1_000)...)
			b.untilSettled(reporter)
			wantEqual(t, len(b.service.chargedIDs()), 1_000-bad)
			var quarantined, want []string
			for _, event := range eventsOf[RecordQuarantined](b) {
				quarantined = append(quarantined, event.ID)
				wantEqual(t, event.Message, "invalid request: records/0/role")
			}
			for index := range bad {
				want = append(want, ids[97+index*181])
			}
			wantEqual(t, quarantined, want)
			// Each bad record takes ten halvings with two halves each, plus one empty batch.
			if count := b.service.requests(); count > 1+1+bad*(2*10+1) {
				t.Errorf("%d requests", count)
			}
			b.wantFiles("quarantine.jsonl")
		})
	}
}

func TestABadRecordIsKeptWholeWithTheReason(t *testing.T) {
	b := newBench(t)
	b.service.isBad = func(record wireRecord) bool { return record.Participant == "Zoë 🎭" }
	reporter := b.greet(records(2))
	ids := b.store(reporter, usageOf(), usageOf(func(r *Record) { r.Participant = "Zoë 🎭" }))
	b.untilSettled(reporter)
	var kept struct {
		Message string
		Record  wireRecord
	}
	if err := json.Unmarshal(b.read("quarantine.jsonl"), &kept); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, kept.Message, "invalid request: records/0/role")
	wantEqual(t, kept.Record, wireRecord{
		ID: ids[1], Participant: "Zoë 🎭", Role: Host, Tier: HD, Seconds: 60, EgressBytes: 50_000_000, IngressBytes: 1_000_000,
	})
}

func TestAServiceThatRefusesEvenAnEmptyBatchCondemnsNoRecord(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(4))
	b.service.fail(times(40, answer(400, `{"error":"unknown field"}`))...)
	ids := b.store(reporter, usagesOf(4)...)
	b.pass(time.Second, "charged", func() bool { return len(b.service.chargedIDs()) == 4 })
	wantEqual(t, b.service.chargedIDs(), ids)
	wantEqual(t, len(eventsOf[RecordQuarantined](b)), 0)
	for _, failed := range eventsOf[SendFailed](b) {
		wantEqual(t, failed.Reason, RetryUnexpectedAnswer)
	}
}

func TestFailuresDuringTheHalving(t *testing.T) {
	b := newBench(t)
	b.service.isBad = func(record wireRecord) bool { return record.Participant == "p-3" }
	reporter := b.greet(records(8))
	b.store(reporter, usagesOf(7)...)
	random := rand.New(rand.NewPCG(3, 3))
	for range 12 {
		if random.IntN(2) == 0 {
			b.service.fail(fault{kind: "lose_answer"})
		} else {
			b.service.fail(answer(502, ""))
		}
	}
	b.store(reporter, usageOf())
	b.pass(time.Second, "charged", func() bool { return len(b.service.chargedIDs()) == 7 })
	b.untilSettled(reporter)
	wantEqual(t, len(eventsOf[RecordQuarantined](b)), 1)
	wantEqual(t, len(eventsOf[SendFailed](b)), 12)
	wantEqual(t, b.service.conflicts, []string(nil))
}

func TestTheSegmentIsKeptWhenTheQuarantineCannotBeWritten(t *testing.T) {
	b := newBench(t)
	b.service.isBad = func(record wireRecord) bool { return record.Participant == "p-1" }
	reporter := b.greet(records(2))
	if err := os.Mkdir(filepath.Join(b.folder, "quarantine.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	ids := b.store(reporter, usagesOf(2)...)
	b.untilSettled(reporter)
	quarantined := eventsOf[RecordQuarantined](b)
	wantEqual(t, []string{quarantined[0].ID, quarantined[0].File}, []string{ids[1], filepath.Join(b.folder, "0000000001.kept")})
	wantEqual(t, b.idsOf("0000000001.kept"), ids)
}

func TestAProxyWithASmallerLimitGetsSmallerBatches(t *testing.T) {
	b := newBench(t)
	b.service.bodyMax = 2_000
	reporter := b.greet(records(40))
	b.store(reporter, usagesOf(40)...)
	b.untilCharged(40)
	wantEqual(t, len(eventsOf[RecordQuarantined](b)), 0)
}

func onlyKey(want string) func(string) bool { return func(key string) bool { return key == want } }

func TestRecordsAreSentWithTheNextKey(t *testing.T) {
	b := newBench(t)
	var key atomic.Value
	key.Store("old-key")
	reporter := b.greet(records(2), func(o *Options) {
		o.Key = func(context.Context) (string, error) { return key.Load().(string), nil }
	})
	b.service.look(func() { b.service.acceptKey = onlyKey("new-key") })
	first := b.store(reporter, usagesOf(2)...)
	b.until("the refusal", func() bool { return len(eventsOf[KeyRefused](b)) == 1 })
	wantEqual(t, eventsOf[KeyRefused](b), []KeyRefused{{Retry: 500 * time.Millisecond}})
	second := b.store(reporter, usagesOf(2)...)
	wantEqual(t, reporter.Pending().Records, 4)
	key.Store("new-key")
	b.untilTimer(500 * time.Millisecond)
	b.clock.Advance(500 * time.Millisecond)
	b.untilSettled(reporter)
	wantEqual(t, b.service.chargedIDs(), append(first, second...))
}

func TestTheKeyFileIsReadAgain(t *testing.T) {
	b := newBench(t)
	b.write("relay.key", []byte("\ufeffold-key\n"))
	reporter := b.greet(records(1), func(o *Options) { o.Key = KeyFile(filepath.Join(b.folder, "relay.key")) })
	b.service.look(func() { b.service.acceptKey = onlyKey("new-key") })
	b.store(reporter, usageOf())
	b.until("the refusal", func() bool { return len(eventsOf[KeyRefused](b)) == 1 })
	b.write("relay.key", []byte("new-key\n"))
	b.pass(100*time.Millisecond, "charged", func() bool { return len(b.service.chargedIDs()) == 1 })
	var keys []string
	b.service.look(func() {
		for _, each := range b.service.received {
			keys = append(keys, each.key)
		}
	})
	wantEqual(t, keys, []string{"old-key", "old-key", "new-key"})
}

func TestARefusedKeyIsNotSentAgainForAMinute(t *testing.T) {
	b := newBench(t)
	reporter := b.greet(records(1))
	b.service.look(func() { b.service.acceptKey = onlyKey("") })
	b.store(reporter, usageOf())
	b.until("the refusal", func() bool { return len(eventsOf[KeyRefused](b)) == 1 })
	start := b.clock.Now()
	b.pass(time.Second, "the second refusal", func() bool { return len(eventsOf[KeyRefused](b)) == 2 })
	if waited := b.clock.Now() - start; waited < time.Minute {
		t.Errorf("sent again after %s", waited)
	}
	b.service.look(func() { b.service.acceptKey = nil })
	b.pass(10*time.Second, "charged", func() bool { return len(b.service.chargedIDs()) == 1 })
}

func TestAKeyThatCannotBeRead(t *testing.T) {
	for name, source := range map[string]KeySource{
		"an error":               func(context.Context) (string, error) { return "svc_secret", errors.New("no vault") },
		"no key":                 Key(" \n"),
		"a line break":           Key("svc_secret\nx"),
		"a missing file":         KeyFile("/nonexistent/relay.key"),
		"a letter outside ASCII": Key("svc_secrét"),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			reporter := b.open(func(o *Options) { o.Key = source })
			b.until("an event", func() bool { return len(eventsOf[KeyFailed](b)) == 1 })
			failed := eventsOf[KeyFailed](b)[0]
			wantError(t, failed.Cause, KeyUnreadable)
			if strings.Contains(failed.Cause.Error(), "svc_secr") {
				t.Errorf("the error is %v", failed.Cause)
			}
			wantEqual(t, failed.Retry, 500*time.Millisecond)
			wantEqual(t, reporter.Admitted(), Unknown)
		})
	}
}

func TestAKeySourceThatHangs(t *testing.T) {
	b := newBench(t)
	over := make(chan struct{})
	defer close(over)
	asked := make(chan struct{}, 10)
	reporter := b.open(func(o *Options) {
		o.Key = func(context.Context) (string, error) {
			asked <- struct{}{}
			<-over
			return "", nil
		}
	})
	<-asked
	b.clock.Advance(30 * time.Second)
	b.until("an event", func() bool { return len(eventsOf[KeyFailed](b)) == 1 })
	wantError(t, eventsOf[KeyFailed](b)[0].Cause, KeyUnreadable)
	b.pass(100*time.Millisecond, "another attempt", func() bool { return len(asked) == 1 })
	reporter.Close(context.Background())
}

func TestAdmittedIsUnknownBeforeTheFirstAnswerAndChangesAreEvents(t *testing.T) {
	b := newBench(t)
	b.service.fail(answer(503, ""), answer(503, ""))
	reporter := b.open()
	b.until("a failure", func() bool { return len(eventsOf[SendFailed](b)) == 1 })
	wantEqual(t, reporter.Admitted(), Unknown)
	for _, isClosed := range []bool{false, true, false} {
		b.service.look(func() { b.service.isClosed = isClosed })
		want := Admitted
		if isClosed {
			want = NotAdmitted
		}
		b.pass(500*time.Millisecond, string(want), func() bool { return reporter.Admitted() == want })
	}
	wantEqual(t, eventsOf[AdmittedChanged](b), []AdmittedChanged{
		{Before: Unknown, Admitted: Admitted}, {Before: Admitted, Admitted: NotAdmitted}, {Before: NotAdmitted, Admitted: Admitted},
	})
}

func TestAdmittedIsPolledWithAnEmptyBatch(t *testing.T) {
	b := newBench(t)
	var random atomic.Int32
	b.greet(func(o *Options) {
		o.Random = func() float64 { return float64(random.Load()) }
		o.Interval = time.Hour
	})
	wantEqual(t, b.service.received[0].body, `{"records":[]}`)
	// 15 seconds after the last answer, minus or plus a fifth.
	b.untilTimer(12 * time.Second)
	random.Store(1)
	b.clock.Advance(12*time.Second - time.Millisecond)
	wantEqual(t, b.service.requests(), 1)
	b.clock.Advance(time.Millisecond)
	b.until("a poll", func() bool { return b.service.requests() == 2 })
	b.untilTimer(18 * time.Second)
	b.clock.Advance(18 * time.Second)
	b.until("another poll", func() bool { return b.service.requests() == 3 })
}

func TestAdmittedComesWithBatchesAsWell(t *testing.T) {
	b := newBench(t)
	reporter := b.greet()
	for round := 1; round <= 5; round++ {
		b.store(reporter, usageOf())
		b.untilTimer(5 * time.Second)
		b.clock.Advance(5 * time.Second)
		b.untilCharged(round)
		b.untilSettled(reporter)
	}
	wantEqual(t, b.service.requests(), 6)
}

func TestAdmittedStaysWhileTheServiceCannotBeReached(t *testing.T) {
	b := newBench(t)
	reporter := b.greet()
	b.service.fail(times(20, answer(503, ""))...)
	b.pass(15*time.Second, "all faults", func() bool { return len(eventsOf[SendFailed](b)) == 20 })
	wantEqual(t, reporter.Admitted(), Admitted)
	wantEqual(t, len(eventsOf[AdmittedChanged](b)), 1)
}
