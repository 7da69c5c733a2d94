/** The source of the relay key. It is read again after a 401, so that a key can be replaced. */
import { readFile } from 'node:fs/promises';
import { type Clock, pause } from './clock.ts';
import { UsageError } from './errors.ts';

/** The key itself, a file that holds it, or a function that fetches it. */
export type KeySource =
  | string
  | {
      /** Path of the file. White space around the key does not matter. */
      readonly file: string;
    }
  | (() => string | Promise<string>);

/** With other characters in a header, `fetch` would fail with a message that quotes the key. */
const PRINTABLE = /^[\x21-\x7e]+$/;
const READ_MS_MAX = 30_000;

/** Read the key from its source. Throws `key_unreadable`, at the latest when the signal aborts. */
export async function readKey(source: KeySource, clock: Clock, signal: AbortSignal): Promise<string> {
  const over = new AbortController();
  const tooLate = pause(clock, READ_MS_MAX, AbortSignal.any([signal, over.signal]));
  try {
    const key = await Promise.race([ask(source), tooLate]);
    const trimmed = typeof key === 'string' ? key.trim() : '';
    if (PRINTABLE.test(trimmed)) return trimmed;
  } catch (cause) {
    throw new UsageError('key_unreadable', 'the relay key cannot be read', { cause });
  } finally {
    over.abort();
  }
  throw new UsageError('key_unreadable', 'the relay key did not come, or is not one');
}

async function ask(source: KeySource): Promise<string> {
  if (typeof source === 'string') return source;
  if (typeof source === 'function') return await source();
  return await readFile(source.file, 'utf8');
}
