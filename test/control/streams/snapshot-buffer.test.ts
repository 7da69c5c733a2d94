import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SnapshotBuffer } from '../../../src/control/streams/snapshot-buffer.ts';
import type { StreamItem } from '../../../src/control/streams/stream-event.ts';

const LIMITS = { bytes: 4 * 512, stallMs: 60_000 };
const item = (name: string) => ({ type: 'snapshot', of: 'watchdog', subject: { id: name } }) as StreamItem;
const nameOf = (each: StreamItem) => (each as { subject: { id: string } }).subject.id;

/** A buffer whose client takes an item whenever the test says so. */
function open(limits = LIMITS) {
  const controller = new AbortController();
  const taken: string[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const send = (each: StreamItem) => {
    taken.push(nameOf(each));
    const taking = Promise.withResolvers<void>();
    waiting.push(taking);
    return taking.promise;
  };
  const buffer = new SnapshotBuffer(send, controller.signal, limits);
  const take = async () => {
    waiting.shift()!.resolve();
    await turn();
  };
  return { buffer, controller, taken, take, waiting };
}

describe('a snapshot', () => {
  test('that fits is put at once, and drained when its client has taken everything, in order', async () => {
    const { buffer, taken, take } = open();
    for (const name of ['a', 'b', 'c']) await buffer.put(item(name));
    let drained = false;
    const draining = buffer.drain().then(() => {
      drained = true;
    });
    for (let count = 0; count < 3; count += 1) {
      expect(drained).toBe(false);
      await take();
    }
    await draining;
    expect(taken).toStrictEqual(['a', 'b', 'c']);
  });

  test('that is larger waits until half of the buffer is empty', async () => {
    const { buffer, take } = open();
    for (const name of ['a', 'b', 'c']) await buffer.put(item(name));
    let hasRoom = false;
    const putting = buffer.put(item('d')).then(() => {
      hasRoom = true;
    });
    await take();
    expect(hasRoom).toBe(false);
    await take();
    await putting;
  });

  test('of a client that takes nothing fails', async () => {
    const { buffer } = open({ ...LIMITS, stallMs: 1 });
    await buffer.put(item('a'));
    await expect(buffer.drain()).rejects.toMatchObject({
      kind: 'too_many_streams',
      message: 'the snapshot was not read in time',
    });
  });

  test('that cannot be sent fails as the send does', async () => {
    const { buffer, waiting } = open();
    for (const name of ['a', 'b', 'c']) await buffer.put(item(name));
    const putting = buffer.put(item('d'));
    waiting[0]!.reject(new Error('not allowed'));
    await expect(putting).rejects.toThrow('not allowed');
    await expect(buffer.drain()).rejects.toThrow('not allowed');
  });

  test('of a client that is gone sends no more', async () => {
    const { buffer, controller, taken, take } = open();
    for (const name of ['a', 'b', 'c']) await buffer.put(item(name));
    const putting = buffer.put(item('d'));
    controller.abort();
    await take();
    await putting;
    await buffer.drain();
    expect(taken).toStrictEqual(['a']);
  });
});
