/** The usage reporter of a relay: accepts usage, stores records on disk, sends batches. */
import { randomBytes } from 'node:crypto';
import { Admission } from './admission.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_BYTES_USUAL,
  BATCH_RECORDS_MAX,
  BATCH_RECORDS_USUAL,
  BATCH_SECONDS_USUAL,
} from './batches.ts';
import { type Clock, systemClock } from './clock.ts';
import { UsageError } from './errors.ts';
import { type Admitted, type Emit, emitTo } from './events.ts';
import type { KeySource } from './key.ts';
import { Sender } from './sender.ts';
import { type SessionStart, Sessions, type Unrecorded, type UsageSession } from './session.ts';
import { Spool } from './spool.ts';
import { checkUsage, isIdPart, type ParticipantUsage, renderRecord, splitByDay } from './usage-record.ts';

/** The service, the spool folder, and the limits of batches. */
export interface UsageReporterOptions {
  /** Base URL of the service: `https://billing.example.com`. */
  readonly url: string;
  /** The relay key, or its source, which is read at the start and after each 401. */
  readonly key: KeySource;
  /** A folder on a local disk for this reporter alone. It is created if necessary. */
  readonly spool: string;
  /** Name of the relay within its tenant: 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly relayId: string;
  /** Called for every event. See `UsageEvent`. */
  readonly onEvent?: Emit | undefined;
  /** How often running sessions become records, in seconds. Default 30. */
  readonly intervalSeconds?: number | undefined;
  /** A batch is sent when it has this many records (default 1,000, at most 5,000), */
  readonly batchRecords?: number | undefined;
  /** or this many bytes (default 700,000, below 1 MiB), */
  readonly batchBytes?: number | undefined;
  /** or when its first record is this many seconds old (default 5). */
  readonly batchSeconds?: number | undefined;
  /** For tests: time. */
  readonly clock?: Clock | undefined;
  /** For tests: randomness. */
  readonly random?: (() => number) | undefined;
  /** For tests: the network. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Accepts usage, stores records on disk, sends batches, until `close()`. */
export interface UsageReporter {
  /** `false`: admit no new participants. It starts as `unknown`, and keeps its value while the service is unreachable. */
  readonly admitted: Admitted;
  /** The number of unsettled records on disk, and of their segment files. */
  readonly pending: {
    /** Files. */
    readonly segments: number;
    /** Records in them. */
    readonly records: number;
  };
  /**
   * Store the usage of one participant in one interval. Resolves with its ids once it is on disk.
   *
   * If it rejects with `invalid_usage`, `spool_failed`, `spool_broken` or `closed`, nothing was stored:
   * after `spool_failed` the same usage may be recorded again.
   */
  record(usage: ParticipantUsage): Promise<readonly string[]>;
  /** Measure the usage of a participant from now on, and record it in intervals. */
  startSession(start: SessionStart): UsageSession;
  /** Write to disk now what `record` was given, rather than within 200 ms. */
  sync(): Promise<void>;
  /**
   * End all sessions, write everything to disk, and send until all is sent or the deadline has passed
   * (default 5 seconds). The rest is sent at the next start. Returns its number of records.
   */
  close(options?: {
    /** How long to send, at most. Default 5. */
    readonly deadlineSeconds?: number;
  }): Promise<{
    /** Records that stay on disk. */
    readonly left: number;
  }>;
}

/** Throws `invalid_options` or `spool_in_use`, or the file system's error about the folder. */
export async function openUsageReporter(options: UsageReporterOptions): Promise<UsageReporter> {
  const { clock = systemClock, random = Math.random, fetch = globalThis.fetch } = options;
  const limits = {
    records: within('batchRecords', options.batchRecords ?? BATCH_RECORDS_USUAL, 1, BATCH_RECORDS_MAX),
    bytes: within('batchBytes', options.batchBytes ?? BATCH_BYTES_USUAL, 1, BATCH_BYTES_MAX),
  };
  const batchMs = 1000 * within('batchSeconds', options.batchSeconds ?? BATCH_SECONDS_USUAL, 0, 3_600);
  const intervalMs = 1000 * within('intervalSeconds', options.intervalSeconds ?? 30, 1, 3_600);
  if (!isIdPart(options.relayId)) throw invalid('relayId must be 1 to 64 of A-Z a-z 0-9 _ -');
  const url = usageUrl(options.url);

  const emit = emitTo(options.onEvent);
  const admission = new Admission(emit);
  let sender: Sender | undefined;
  let reporter: Reporter | undefined;
  const spool = await Spool.open({
    folder: options.spool,
    limits,
    clock,
    emit,
    onChange: () => sender?.wake(),
    running: () => reporter?.runningLines() ?? [],
  });
  sender = new Sender({
    url,
    key: options.key,
    limits,
    batchMs,
    fetch,
    clock,
    random,
    spool,
    admission,
    emit,
  });
  reporter = new Reporter({
    relayId: options.relayId,
    intervalMs,
    clock,
    emit,
    spool,
    sender,
    admission,
  });
  sender.start();
  return reporter;
}

function usageUrl(base: string): string {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw invalid('url must be an address with http');
  if (url.username || url.password || /[?#]/.test(base))
    throw invalid('url must have no user, query or fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/v1/usage`;
}

function within(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw invalid(`${name} must be from ${least} to ${most}`);
}

function invalid(message: string): UsageError {
  return new UsageError('invalid_options', message);
}

interface Parts {
  readonly relayId: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly spool: Spool;
  readonly sender: Sender;
  readonly admission: Admission;
}

class Reporter implements UsageReporter {
  readonly #parts: Parts;
  readonly #sessions: Sessions;
  /** Unique to this start, so that a restarted relay uses no id twice. */
  readonly #idPrefix: string;
  #intervals = 0;
  #closing: Promise<{ left: number }> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#idPrefix = `${parts.relayId}.${randomBytes(6).toString('base64url')}`;
    const { intervalMs, clock, emit } = parts;
    this.#sessions = new Sessions({
      intervalMs,
      clock,
      emit,
      newId: (sessionId) => this.#newId(sessionId),
      record: (record) => this.#store(record),
      checkpoint: () => parts.spool.checkpoint(),
    });
  }

  get admitted(): Admitted {
    return this.#parts.admission.admitted;
  }

  get pending(): { segments: number; records: number } {
    return this.#parts.spool.pending;
  }

  async record(usage: ParticipantUsage): Promise<readonly string[]> {
    this.#refuseIfClosed();
    return await this.#store({ id: this.#newId(usage.sessionId), usage });
  }

  startSession(start: SessionStart): UsageSession {
    this.#refuseIfClosed();
    return this.#sessions.start(start);
  }

  sync(): Promise<void> {
    return this.#parts.spool.sync();
  }

  close({ deadlineSeconds = 5 }: { deadlineSeconds?: number } = {}): Promise<{ left: number }> {
    this.#closing ??= this.#close(deadlineSeconds * 1000);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<{ left: number }> {
    const { spool, sender } = this.#parts;
    const ended = this.#sessions.close();
    await spool.seal();
    await ended;
    await sender.drain(deadlineMs);
    const left = spool.pending.records;
    await spool.close();
    return { left };
  }

  /** The records that running sessions would become if they ended now. */
  runningLines(): string[] {
    return this.#sessions.unrecorded().flatMap((record) => {
      try {
        return render(record).map(({ line }) => line);
      } catch {
        // What is too long for a record is refused when it is recorded.
        return [];
      }
    });
  }

  /** An id is created once and stored: every attempt to send repeats it. */
  #newId(sessionId = '0'): string {
    const id = `${this.#idPrefix}.${sessionId}.${this.#intervals}`;
    this.#intervals += 1;
    return id;
  }

  async #store(record: Unrecorded): Promise<readonly string[]> {
    checkUsage(record.usage);
    const parts = render(record);
    await this.#parts.spool.append(parts.map(({ line }) => line));
    return parts.map(({ id }) => id);
  }

  #refuseIfClosed(): void {
    if (this.#closing) throw new UsageError('closed', 'the reporter is closed');
  }
}

/** More than a day becomes several records, whose ids follow from the first one. */
function render({ id: first, usage }: Unrecorded): { readonly id: string; readonly line: string }[] {
  return splitByDay(usage).map((part, index) => {
    const id = index === 0 ? first : `${first}.${index}`;
    return { id, line: renderRecord(id, part) };
  });
}
