/** The number of records and bytes in one request. Source: specification 4.12. */
export interface BatchLimits {
  readonly records: number;
  /** Of the whole body, in UTF-8. */
  readonly bytes: number;
}

export const BATCH_RECORDS_MAX = 5_000;
/** The service accepts 1 MiB. */
export const BATCH_BYTES_MAX = 1024 * 1024 - 1;
export const BATCH_RECORDS_USUAL = 1_000;
export const BATCH_BYTES_USUAL = 700_000;
/** How long the first record of a batch waits for others. */
export const BATCH_SECONDS_USUAL = 5;

const HEAD = '{"records":[';
const TAIL = ']}';

/** Bytes of an empty batch. Each record adds its line and a comma. */
export const ENVELOPE_BYTES = HEAD.length + TAIL.length;

export function renderBatch(lines: readonly string[]): string {
  return `${HEAD}${lines.join(',')}${TAIL}`;
}

/** The bytes that a line adds to a body, including a comma, which the last line does not have. */
export function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

/** Split lines into batches within both limits, in order. A line that is too long gets a batch of its own. */
export function splitBatches(lines: readonly string[], limits: BatchLimits): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let bytes = ENVELOPE_BYTES;
  for (const line of lines) {
    const more = bytesOf(line);
    if (batch.length > 0 && (batch.length >= limits.records || bytes + more > limits.bytes)) {
      batches.push(batch);
      batch = [];
      bytes = ENVELOPE_BYTES;
    }
    batch.push(line);
    bytes += more;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
