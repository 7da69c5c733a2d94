package usage

import (
	"context"
	"log/slog"
	"time"
)

// Event is one of the events of this package, for logs, metrics and alarms. No event contains a key.
type Event interface {
	// Type is a stable name, such as batch_accepted.
	Type() string
	level() slog.Level
	attrs() []slog.Attr
}

// AdmittedChanged requires action: with [NotAdmitted], admit no new participants until it is [Admitted] again.
type AdmittedChanged struct {
	// Admitted holds from now on; Before held until now.
	Admitted, Before AdmittedState
}

// BatchAccepted is a batch that was answered with 200.
type BatchAccepted struct {
	// Records in the batch.
	Records int64
	// Charged records; Duplicates, which were charged before; and Unbilled ones, of a tenant that is exempt from charging.
	Charged, Duplicates, Unbilled int64
}

// CountsDiffer is an answer whose three counts do not add up to the number sent. The segment stays on disk as File.
type CountsDiffer struct {
	// Records in the batch.
	Records int64
	// As the service says.
	Charged, Duplicates, Unbilled int64
	// File is the segment.
	File string
}

// RetryReason says why an attempt to send is repeated.
type RetryReason string

// Why an attempt to send is repeated.
const (
	RetryNetwork          RetryReason = "network"
	RetryTimeout          RetryReason = "timeout"
	RetryServerError      RetryReason = "server_error"
	RetryRateLimited      RetryReason = "rate_limited"
	RetryUnexpectedAnswer RetryReason = "unexpected_answer"
)

// SendFailed is a request that is sent again, unchanged, after Retry.
type SendFailed struct {
	// Reason says why.
	Reason RetryReason
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// Cause is the error, if there was one.
	Cause error
	// Attempt counts failures in a row, from 1.
	Attempt int
	// Retry is the time until the next attempt.
	Retry time.Duration
}

// KeyRefused is a 401: nothing is sent until the key has changed, or for a minute. Records are kept.
type KeyRefused struct {
	// Retry is the time until the next attempt.
	Retry time.Duration
}

// KeyFailed is a failure of the key source. Records are kept.
type KeyFailed struct {
	// Cause is a [KeyUnreadable].
	Cause error
	// Retry is the time until the next attempt.
	Retry time.Duration
}

// RecordQuarantined is a record that the service refuses permanently: it is now in File, with the reason.
type RecordQuarantined struct {
	// ID of the record.
	ID string
	// Message is the service's reason.
	Message string
	// File holds it now.
	File string
}

// SpoolRecovered says that records of an earlier start are on disk. They are sent first.
type SpoolRecovered struct {
	// Segments are the files that hold them.
	Segments int
	// Records in these files.
	Records int
	// TornBytes belong to an incomplete write; they were never acknowledged.
	TornBytes int
}

// SegmentCorrupt is a segment with damaged bytes. Its valid records are sent; the file stays.
type SegmentCorrupt struct {
	// File is the segment.
	File string
	// Offset is where the damage begins, and Bytes how long it is.
	Offset, Bytes int
}

// SegmentFailed is a segment that cannot be read or removed now. Reading is tried again each minute, and removal at the
// next start.
type SegmentFailed struct {
	// File is the segment.
	File string
	// Cause is the error of the file system.
	Cause error
}

// IntervalNotStored is an interval of a session that could not be stored. It is kept in memory and retried.
type IntervalNotStored struct {
	// SessionID is the session.
	SessionID string
	// Cause is the error of the spool.
	Cause error
}

// CheckpointFailed: the disk did not take what running sessions have used. It is in memory, and tried again within a
// second; a crash before that would lose it.
type CheckpointFailed struct {
	// Cause is the error of the file system.
	Cause error
}

// Type returns admitted_changed.
func (AdmittedChanged) Type() string { return "admitted_changed" }

// Type returns batch_accepted.
func (BatchAccepted) Type() string { return "batch_accepted" }

// Type returns counts_differ.
func (CountsDiffer) Type() string { return "counts_differ" }

// Type returns send_failed.
func (SendFailed) Type() string { return "send_failed" }

// Type returns key_refused.
func (KeyRefused) Type() string { return "key_refused" }

// Type returns key_unreadable.
func (KeyFailed) Type() string { return "key_unreadable" }

// Type returns record_quarantined.
func (RecordQuarantined) Type() string { return "record_quarantined" }

// Type returns spool_recovered.
func (SpoolRecovered) Type() string { return "spool_recovered" }

// Type returns segment_corrupt.
func (SegmentCorrupt) Type() string { return "segment_corrupt" }

// Type returns segment_failed.
func (SegmentFailed) Type() string { return "segment_failed" }

// Type returns interval_not_stored.
func (IntervalNotStored) Type() string { return "interval_not_stored" }

// Type returns checkpoint_failed.
func (CheckpointFailed) Type() string { return "checkpoint_failed" }

func (AdmittedChanged) level() slog.Level   { return slog.LevelInfo }
func (BatchAccepted) level() slog.Level     { return slog.LevelDebug }
func (CountsDiffer) level() slog.Level      { return slog.LevelError }
func (SendFailed) level() slog.Level        { return slog.LevelWarn }
func (KeyRefused) level() slog.Level        { return slog.LevelError }
func (KeyFailed) level() slog.Level         { return slog.LevelError }
func (RecordQuarantined) level() slog.Level { return slog.LevelError }
func (SpoolRecovered) level() slog.Level    { return slog.LevelInfo }
func (SegmentCorrupt) level() slog.Level    { return slog.LevelError }
func (SegmentFailed) level() slog.Level     { return slog.LevelError }
func (IntervalNotStored) level() slog.Level { return slog.LevelError }
func (CheckpointFailed) level() slog.Level  { return slog.LevelError }

func (e AdmittedChanged) attrs() []slog.Attr {
	return []slog.Attr{slog.String("admitted", string(e.Admitted)), slog.String("before", string(e.Before))}
}

func (e BatchAccepted) attrs() []slog.Attr {
	return counts(e.Records, e.Charged, e.Duplicates, e.Unbilled)
}

func (e CountsDiffer) attrs() []slog.Attr {
	return append(counts(e.Records, e.Charged, e.Duplicates, e.Unbilled), slog.String("file", e.File))
}

func counts(records, charged, duplicates, unbilled int64) []slog.Attr {
	return []slog.Attr{
		slog.Int64("records", records),
		slog.Int64("charged", charged),
		slog.Int64("duplicates", duplicates),
		slog.Int64("unbilled", unbilled),
	}
}

func (e SendFailed) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("reason", string(e.Reason)),
		slog.Int("status", e.Status),
		slog.Any("cause", e.Cause),
		slog.Int("attempt", e.Attempt),
		slog.Duration("retry", e.Retry),
	}
}

func (e KeyRefused) attrs() []slog.Attr { return []slog.Attr{slog.Duration("retry", e.Retry)} }

func (e KeyFailed) attrs() []slog.Attr {
	return []slog.Attr{slog.Any("cause", e.Cause), slog.Duration("retry", e.Retry)}
}

func (e RecordQuarantined) attrs() []slog.Attr {
	return []slog.Attr{slog.String("id", e.ID), slog.String("message", e.Message), slog.String("file", e.File)}
}

func (e SpoolRecovered) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("segments", e.Segments), slog.Int("records", e.Records), slog.Int("torn_bytes", e.TornBytes),
	}
}

func (e SegmentCorrupt) attrs() []slog.Attr {
	return []slog.Attr{slog.String("file", e.File), slog.Int("offset", e.Offset), slog.Int("bytes", e.Bytes)}
}

func (e SegmentFailed) attrs() []slog.Attr {
	return []slog.Attr{slog.String("file", e.File), slog.Any("cause", e.Cause)}
}

func (e IntervalNotStored) attrs() []slog.Attr {
	return []slog.Attr{slog.String("session", e.SessionID), slog.Any("cause", e.Cause)}
}

func (e CheckpointFailed) attrs() []slog.Attr { return []slog.Attr{slog.Any("cause", e.Cause)} }

type emit func(Event)

// emitTo passes events to a logger and a listener, of which each may be nil.
func emitTo(logger *slog.Logger, listener func(Event)) emit {
	return func(event Event) {
		if logger != nil {
			logger.LogAttrs(context.Background(), event.level(), event.Type(), event.attrs()...)
		}
		if listener != nil {
			listener(event)
		}
	}
}
