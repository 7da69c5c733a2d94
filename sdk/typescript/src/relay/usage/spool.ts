/**
 * Records on disk, from their acknowledgement until the service has them.
 *
 * A folder of numbered segment files (`segment.ts`). New records are appended to the open segment, and
 * many share one fsync. A sealed segment is never written again: a batch is made from it, and it is
 * deleted once the service has settled all its records. Segments of an earlier start are sealed.
 *
 * What running sessions have used since their last record is kept beside it, and becomes records at the next start.
 *
 *     0000000042.segment   records to be sent
 *     0000000007.kept      a segment for a person to inspect
 *     quarantine.jsonl     records the service refused, with the reason
 *     running.records      what running sessions would record if they ended now
 *     lock.*               the owner of the folder
 */
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BatchLimits, bytesOf, ENVELOPE_BYTES } from './batches.ts';
import type { Clock } from './clock.ts';
import { UsageError } from './errors.ts';
import type { Emit } from './events.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { encodeEntry, parseSegment } from './segment.ts';

/** Flush when this many records wait for the disk, or when one has waited this long. */
const SYNC_RECORDS = 64;
const SYNC_MS = 200;
/** A segment that cannot be read is tried again after this time. */
const READ_AGAIN_MS = 60_000;

const SEGMENT_NAME = /^(\d{10})\.(segment|kept)$/;

export interface SpoolOptions {
  readonly folder: string;
  /** A segment never exceeds a batch, so that one request sends it all. */
  readonly limits: BatchLimits;
  readonly clock: Clock;
  readonly emit: Emit;
  /** Called when there is something new to send, or soon will be. */
  readonly onChange: () => void;
  /** What running sessions would record if they ended now, under the ids that it will have. */
  readonly running: () => readonly string[];
}

export interface Segment {
  readonly path: string;
  readonly records: number;
  /** Acknowledged bytes of the file. */
  readonly fileBytes: number;
  /** Some bytes are damaged. */
  readonly corrupt: boolean;
}

interface OpenSegment {
  readonly path: string;
  readonly handle: FileHandle;
  /** When its first record was stored, by the monotonic clock. */
  readonly since: number;
  records: number;
  fileBytes: number;
  bodyBytes: number;
}

/** The lines of one call, which become durable together or not at all. */
interface Append {
  readonly lines: readonly string[];
  readonly bodyBytes: number;
  readonly resolve: () => void;
  readonly reject: (error: UsageError) => void;
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #directory: FileHandle;
  readonly #lock: FolderLock;
  readonly #sealed: Segment[] = [];
  /** Those that cannot be read now, and when each is tried again. */
  readonly #unread: { readonly segment: Segment; readonly at: number }[] = [];
  #open: OpenSegment | undefined;
  #lastNumber = 0;
  /** Whether the usage of running sessions is on disk. */
  #hasCheckpoint = false;
  #waiting: Append[] = [];
  #waitingRecords = 0;
  #cancelSync: (() => void) | undefined;
  /** Serializes the work on the open segment. */
  #work: Promise<void> = Promise.resolve();
  /** Why no more records are accepted. */
  #refusal: UsageError | undefined;

  private constructor(options: SpoolOptions, directory: FileHandle, lock: FolderLock) {
    this.#options = options;
    this.#directory = directory;
    this.#lock = lock;
  }

  /** Lock the folder, and load what an earlier start left in it. Throws `spool_in_use`. */
  static async open(given: SpoolOptions): Promise<Spool> {
    const options = { ...given, folder: resolve(given.folder) };
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    const directory = await open(options.folder);
    try {
      const lock = await lockFolder(options.folder, directory);
      const spool = new Spool(options, directory, lock);
      await spool.#recover().catch(async (error: unknown) => {
        await lock.release();
        throw error;
      });
      return spool;
    } catch (error) {
      await directory.close();
      throw error;
    }
  }

  async #recover(): Promise<void> {
    let tornBytes = 0;
    for (const name of (await readdir(this.#options.folder)).sort()) {
      const match = SEGMENT_NAME.exec(name);
      if (!match) continue;
      this.#lastNumber = Math.max(this.#lastNumber, Number(match[1]));
      if (match[2] === 'segment') tornBytes += await this.#recoverSegment(this.#pathOf(name));
    }
    await this.#recoverRunning();
    const { segments, records } = this.pending;
    if (segments === 0) return;
    this.#options.emit({ type: 'spool_recovered', segments, records, tornBytes });
  }

  /** Returns the bytes of an incomplete entry from the earlier start. */
  async #recoverSegment(path: string): Promise<number> {
    let bytes: Buffer;
    try {
      bytes = await readFile(path);
    } catch (cause) {
      // It is not known to be whole, so the file stays.
      this.#putOff({ path, records: 0, fileBytes: Number.POSITIVE_INFINITY, corrupt: true });
      this.#options.emit({ type: 'segment_failed', file: path, cause });
      return 0;
    }
    const { lines, corrupt, tornBytes } = parseSegment(bytes);
    for (const stretch of corrupt) this.#options.emit({ type: 'segment_corrupt', file: path, ...stretch });
    this.#sealed.push({
      path,
      records: lines.length,
      fileBytes: bytes.length,
      corrupt: corrupt.length > 0,
    });
    return tornBytes;
  }

  /** What the sessions of the earlier start had used since their last record becomes records. */
  async #recoverRunning(): Promise<void> {
    const bytes = await readFile(this.#runningPath).catch(absent);
    if (!bytes) return;
    const { lines, corrupt } = parseSegment(bytes);
    for (const stretch of corrupt)
      this.#options.emit({ type: 'segment_corrupt', file: this.#runningPath, ...stretch });
    const recorded = await this.#recordedIds();
    const stored = lines.filter((line) => !recorded.has(idOf(line))).map((line) => this.append([line]));
    await this.sync();
    await Promise.all(stored);
    await rm(this.#runningPath);
  }

  /** Of all records that an earlier start has left. */
  async #recordedIds(): Promise<Set<unknown>> {
    const segments = await Promise.all(this.#sealed.map((segment) => this.read(segment)));
    return new Set(segments.flatMap((lines) => lines ?? []).map(idOf));
  }

  /** Stored and unsettled records. */
  get pending(): { segments: number; records: number } {
    const sealed = [...this.#sealed, ...this.#unread.map(({ segment }) => segment)];
    const all = this.#open ? [...sealed, this.#open] : sealed;
    return { segments: all.length, records: all.reduce((sum, segment) => sum + segment.records, 0) };
  }

  /** When the first record of the open segment was stored; undefined while there is none. */
  get openSince(): number | undefined {
    return this.#open?.since;
  }

  /** The next segment to send. */
  oldest(): Segment | undefined {
    const now = this.#options.clock.now();
    while (this.#unread[0] && this.#unread[0].at <= now) this.#sealed.push(this.#unread.shift()!.segment);
    return this.#sealed[0];
  }

  /**
   * Store lines, all or none. Resolves once they are on disk.
   *
   * After `spool_failed` nothing of this call is stored, so it can be repeated.
   */
  append(lines: readonly string[]): Promise<void> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    const bodyBytes = lines.reduce((sum, line) => sum + bytesOf(line), 0);
    const stored = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ lines, bodyBytes, resolve, reject });
    });
    this.#waitingRecords += lines.length;
    if (this.#waitingRecords >= SYNC_RECORDS) void this.sync();
    else this.#cancelSync ??= this.#options.clock.after(SYNC_MS, () => void this.sync());
    return stored;
  }

  /** Store the waiting lines. Never fails: each `append` reports to its own caller. */
  sync(): Promise<void> {
    this.#cancelSync?.();
    this.#cancelSync = undefined;
    return this.#next(() => this.#writeWaiting());
  }

  /** Store the waiting lines, and seal the open segment so that it can be sent. */
  seal(): Promise<void> {
    void this.sync();
    return this.#next(() => this.#sealOpen());
  }

  /** Keep what running sessions have used. Never fails: it is repeated soon. */
  checkpoint(): Promise<void> {
    return this.#next(() => this.#writeCheckpoint());
  }

  async #writeCheckpoint(): Promise<void> {
    // After a failed write it is not known which records are on disk: the last checkpoint still tells.
    if (this.#refusal) return;
    const lines = this.#options.running();
    if (lines.length === 0 && !this.#hasCheckpoint) return;
    try {
      if (lines.length > 0) await this.#replaceRunning(Buffer.concat(lines.map(encodeEntry)));
      else await rm(this.#runningPath, { force: true });
      this.#hasCheckpoint = lines.length > 0;
    } catch (cause) {
      this.#options.emit({ type: 'checkpoint_failed', cause });
    }
  }

  async #replaceRunning(bytes: Buffer): Promise<void> {
    const path = `${this.#runningPath}.new`;
    const handle = await open(path, 'w', 0o600);
    try {
      await handle.appendFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(path, this.#runningPath);
    await this.#directory.sync();
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work);
    return this.#work;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      if (group.length === 0) {
        await this.#sealOpen();
        continue;
      }
      try {
        await this.#write(group);
        for (const each of group) each.resolve();
      } catch (cause) {
        const error = this.#refusal ?? new UsageError('spool_failed', 'usage could not be stored', { cause });
        for (const each of group) each.reject(error);
      }
    }
  }

  /** As many waiting calls as fit into the open segment; at least one if the segment is empty. */
  #takeGroup(): Append[] {
    const { limits } = this.#options;
    let records = this.#open?.records ?? 0;
    let bytes = this.#open?.bodyBytes ?? ENVELOPE_BYTES;
    let count = 0;
    for (const { lines, bodyBytes } of this.#waiting) {
      const fits = records + lines.length <= limits.records && bytes + bodyBytes <= limits.bytes;
      if (!fits && records > 0) break;
      records += lines.length;
      bytes += bodyBytes;
      count += 1;
    }
    const group = this.#waiting.splice(0, count);
    this.#waitingRecords -= group.reduce((sum, each) => sum + each.lines.length, 0);
    return group;
  }

  async #write(group: readonly Append[]): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    const lines = group.flatMap((each) => each.lines);
    const bytes = Buffer.concat(lines.map(encodeEntry));
    this.#open ??= await this.#createSegment();
    const segment = this.#open;
    try {
      await segment.handle.appendFile(bytes);
      await segment.handle.datasync();
    } catch (error) {
      await this.#undo(segment);
      throw error;
    }
    segment.records += lines.length;
    segment.fileBytes += bytes.length;
    segment.bodyBytes += group.reduce((sum, each) => sum + each.bodyBytes, 0);
    if (segment.records >= this.#options.limits.records) await this.#sealOpen();
    else this.#options.onChange();
  }

  async #createSegment(): Promise<OpenSegment> {
    this.#lastNumber += 1;
    const path = this.#pathOf(`${String(this.#lastNumber).padStart(10, '0')}.segment`);
    const handle = await open(path, 'ax', 0o600);
    try {
      // Without this, a power failure could lose the name of the file, and so all of it.
      await this.#directory.sync();
    } catch (error) {
      await handle.close();
      await rm(path, { force: true });
      throw error;
    }
    const since = this.#options.clock.now();
    return { path, handle, since, records: 0, fileBytes: 0, bodyBytes: ENVELOPE_BYTES };
  }

  /**
   * Roll back a failed write, so that the caller may record the same usage again without
   * having it charged twice. A file that failed once is not written again.
   */
  async #undo(segment: OpenSegment): Promise<void> {
    try {
      await segment.handle.truncate(segment.fileBytes);
      await segment.handle.datasync();
      await this.#sealOpen();
    } catch (cause) {
      this.#refusal = new UsageError('spool_broken', 'a failed write could not be taken back', { cause });
    }
  }

  async #sealOpen(): Promise<void> {
    const segment = this.#open;
    if (!segment) return;
    this.#open = undefined;
    // Everything acknowledged was synced before, so closing cannot lose data.
    await segment.handle.close().catch(() => undefined);
    const { path, records, fileBytes } = segment;
    if (records === 0) {
      await rm(path, { force: true }).catch(() => undefined);
      return;
    }
    this.#sealed.push({ path, records, fileBytes, corrupt: false });
    this.#options.onChange();
  }

  /** The records of a segment, as they were stored. Undefined skips it, for a minute if it is still there. */
  async read(segment: Segment): Promise<readonly string[] | undefined> {
    try {
      const bytes = await readFile(segment.path);
      return parseSegment(bytes.subarray(0, segment.fileBytes)).lines;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') this.#forget(segment);
      else this.#putOff(segment);
      this.#options.emit({ type: 'segment_failed', file: segment.path, cause });
      return undefined;
    }
  }

  /** The path at which `settle` keeps a segment. */
  keptPath(segment: Segment): string {
    return segment.path.replace(/segment$/, 'kept');
  }

  /** Every record of the segment is settled: delete it, or keep it for a person to inspect. */
  async settle(segment: Segment, fate: 'delete' | 'keep'): Promise<void> {
    // A checkpoint from before these records has their ids. Without the segment, the next start would report them again.
    if (this.#hasCheckpoint) await this.checkpoint();
    try {
      if (fate === 'keep' || segment.corrupt) await rename(segment.path, this.keptPath(segment));
      else await rm(segment.path);
    } catch (cause) {
      this.#options.emit({ type: 'segment_failed', file: segment.path, cause });
    }
    this.#forget(segment);
  }

  #forget(segment: Segment): void {
    const index = this.#sealed.indexOf(segment);
    if (index >= 0) this.#sealed.splice(index, 1);
  }

  /** Try a segment again later, and others meanwhile. */
  #putOff(segment: Segment): void {
    this.#forget(segment);
    this.#unread.push({ segment, at: this.#options.clock.now() + READ_AGAIN_MS });
  }

  get #runningPath(): string {
    return this.#pathOf('running.records');
  }

  get quarantinePath(): string {
    return this.#pathOf('quarantine.jsonl');
  }

  /** Keep a refused record with the reason. After a crash before `settle` it may be there twice. */
  async quarantine(line: string, message: string): Promise<void> {
    const handle = await open(this.quarantinePath, 'a', 0o600);
    try {
      const { size } = await handle.stat();
      try {
        await handle.appendFile(`{"message":${JSON.stringify(message)},"record":${line}}\n`);
        await handle.datasync();
      } catch (error) {
        // Half a line would spoil the next one.
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
    } finally {
      await handle.close();
    }
  }

  /** Store the waiting lines and release the folder. */
  async close(): Promise<void> {
    await this.seal();
    await this.checkpoint();
    this.#refusal ??= new UsageError('closed', 'the reporter is closed');
    await this.#lock.release();
    await this.#directory.close();
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, name);
  }
}

const idOf = (line: string): unknown => JSON.parse(line).id;

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
