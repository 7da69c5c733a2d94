import { once } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { KeyLookups } from '../../../src/access/keys/key-lookups.ts';
import { FeedStream, type Known } from '../../../src/control/revocations/feed-stream.ts';

const snapshot = (seq: bigint) => ({ seq, jws: `jws-${seq}` });

/** A stream that is read at once, of what is known and of what the look-up of its key says. */
function open(
  known: { -readonly [Name in keyof Known]: Known[Name] },
  keyId: string | undefined = undefined,
) {
  const find = vi.fn(async (_id: string): Promise<{ isWorking: boolean }> => ({ isWorking: true }));
  const stream = new FeedStream({
    known,
    keyId,
    keyLookups: { find } as unknown as KeyLookups,
    render: (item) => Buffer.from(item.type === 'revocations' ? item.snapshot.jws : String(item.admitted)),
  });
  const sent: string[] = [];
  stream.on('data', (bytes: Buffer) => sent.push(String(bytes)));
  return { stream, sent, find };
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('sends each newer snapshot once, and admitted to no stream without a key', async () => {
  const known = { snapshot: snapshot(1n), admitted: true, reached: [] };
  const { stream, sent, find } = open(known);
  await expect.poll(() => sent).toEqual(['jws-1']);
  stream.offer();
  known.snapshot = snapshot(2n);
  stream.offer();
  stream.offer();
  await expect.poll(() => sent).toEqual(['jws-1', 'jws-2']);
  expect(find).not.toHaveBeenCalled();
});

test('sends another signature of the same revocations only if the last one is 10 seconds old', async () => {
  const known = { snapshot: snapshot(1n), admitted: undefined, reached: [] };
  const { stream, sent } = open(known);
  await expect.poll(() => sent).toEqual(['jws-1']);
  known.snapshot = { seq: 1n, jws: 'again' };
  stream.offer();
  expect(sent).toEqual(['jws-1']);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 10_001);
  stream.offer();
  await expect.poll(() => sent).toEqual(['jws-1', 'again']);
});

describe('admitted', () => {
  const known = () => ({
    snapshot: snapshot(1n),
    admitted: true as boolean | undefined,
    reached: [] as string[],
  });

  test('is sent after each change, while the key works', async () => {
    const state = known();
    const { stream, sent } = open(state, 'key');
    await expect.poll(() => sent).toEqual(['jws-1', 'true']);
    stream.offer();
    state.admitted = false;
    stream.offer();
    await expect.poll(() => sent).toEqual(['jws-1', 'true', 'false']);
  });

  test('is not sent before it is known', async () => {
    const { stream, sent, find } = open({ ...known(), admitted: undefined }, 'key');
    await expect.poll(() => sent).toEqual(['jws-1']);
    stream.offer();
    expect(find).not.toHaveBeenCalled();
  });

  test('ends the stream instead, once the key works no longer', async () => {
    const state = known();
    const { stream, sent, find } = open(state, 'key');
    await expect.poll(() => sent).toEqual(['jws-1', 'true']);
    find.mockResolvedValue({ isWorking: false });
    state.admitted = false;
    stream.offer();
    await once(stream, 'end');
    state.snapshot = snapshot(2n);
    stream.offer();
    expect(sent).toEqual(['jws-1', 'true']);
  });

  test('is tried again if the key could not be looked up', async () => {
    const { stream, sent, find } = open(known(), 'key');
    find.mockRejectedValueOnce(new Error('the database is away'));
    await expect.poll(() => find.mock.calls.length).toBeGreaterThan(0);
    await expect.poll(() => sent).toEqual(['jws-1']);
    stream.offer();
    await expect.poll(() => sent).toEqual(['jws-1', 'true']);
  });
});
