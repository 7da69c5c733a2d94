import { describe, expect, test } from 'vitest';
import type { LoggedEvent } from '../../../src/events/event.ts';
import { DeliveryWindow } from '../../../src/outward/webhooks/delivery-window.ts';

/** The event `seq` of a room; `''`: of none. */
const event = (seq: number, room = ''): LoggedEvent => ({
  seq: BigInt(seq),
  at: new Date(),
  type: 'credit_spent',
  roomUid: room || null,
  subject: {},
});
const takeAll = (window: DeliveryWindow) => {
  const taken: LoggedEvent[] = [];
  for (let [next] = window.takeNext(1); next; [next] = window.takeNext(1)) taken.push(next);
  return taken;
};
const seqs = (events: readonly LoggedEvent[]) => events.map(({ seq }) => Number(seq));
const put = (window: DeliveryWindow) => {
  const settled = window.takeSettled();
  return settled && [Number(settled.to), settled.put.map((each) => [Number(each.seq), each.waitSeconds])];
};

describe('in no order', () => {
  test('all may be sent, and the place moves up to the first that is open', () => {
    const window = new DeliveryWindow(0n, false, []);
    window.add([event(1, 'a'), event(3, 'a'), event(4)], 6n);
    const [one, three, four] = takeAll(window) as [LoggedEvent, LoggedEvent, LoggedEvent];
    expect(seqs([one, three, four])).toEqual([1, 3, 4]);
    window.deliver(three);
    expect([window.hasSettled, window.takeSettled()]).toEqual([false, undefined]);
    window.deliver(one);
    expect(window.hasSettled).toBe(true);
    expect(put(window)).toEqual([3, []]);
    window.deliver(four);
    expect(put(window)).toEqual([6, []]);
    expect([window.hasSettled, window.takeSettled()]).toEqual([false, undefined]);
  });

  test('one that is put aside keeps none of the others', () => {
    const window = new DeliveryWindow(0n, false, ['a']);
    window.add([event(1, 'a'), event(2, 'a')], 2n);
    const [one, two] = takeAll(window) as [LoggedEvent, LoggedEvent];
    window.deliver(two);
    window.putAside(one, 1, 5);
    expect(window.takeSettled()).toEqual({
      to: 2n,
      put: [{ seq: 1n, room: 'a', failures: 1, waitSeconds: 5 }],
    });
  });
});

describe('by room', () => {
  test('one of each room is under way, and the next one follows', () => {
    const window = new DeliveryWindow(0n, true, []);
    window.add([event(1, 'a'), event(2, 'b'), event(3, 'a'), event(4), event(5), event(6, 'b')], 6n);
    const [one, two, four] = takeAll(window) as [LoggedEvent, LoggedEvent, LoggedEvent];
    expect(seqs([one, two, four])).toEqual([1, 2, 4]);
    window.deliver(two);
    window.deliver(four);
    const [six, five] = takeAll(window) as [LoggedEvent, LoggedEvent];
    expect(seqs([six, five])).toEqual([6, 5]);
    window.deliver(one);
    expect(put(window)).toEqual([2, []]);
    expect(seqs(takeAll(window))).toEqual([3]);
  });

  test('what was not sent before one that was delivered is put aside at the end, and nothing after it', () => {
    const window = new DeliveryWindow(0n, true, []);
    window.add([event(1, 'a'), event(2, 'a'), event(3, 'b'), event(4, 'a'), event(5, 'b')], 5n);
    const [one, three] = takeAll(window) as [LoggedEvent, LoggedEvent];
    window.deliver(one);
    window.deliver(three);
    window.closeGaps();
    expect(put(window)).toEqual([
      4,
      [
        [2, 0],
        [4, null],
      ],
    ]);
    expect(seqs(takeAll(window))).toEqual([5]);
    window.closeGaps();
    expect(window.takeSettled()).toBeUndefined();
  });

  test('those behind one that is put aside are put aside without being sent, also those that come later', () => {
    const window = new DeliveryWindow(0n, true, []);
    window.add([event(1, 'a'), event(2, 'a'), event(3, 'b'), event(4, 'a')], 4n);
    const [one, three] = takeAll(window) as [LoggedEvent, LoggedEvent];
    window.putAside(one, 1, 5);
    window.deliver(three);
    expect(put(window)).toEqual([
      4,
      [
        [1, 5],
        [2, null],
        [4, null],
      ],
    ]);
    window.add([event(5, 'a'), event(6, 'b')], 6n);
    expect(seqs(takeAll(window))).toEqual([6]);
  });

  test('a room is free once nothing of it is put aside, here or in the database', () => {
    const window = new DeliveryWindow(0n, true, ['a']);
    window.add([event(1, 'b'), event(2, 'a'), event(3, 'a')], 3n);
    const [one] = takeAll(window) as [LoggedEvent];
    // The database has none of it any more, and 2 is not there yet: it is the first one.
    window.free('a');
    window.deliver(one);
    expect(put(window)).toEqual([
      3,
      [
        [2, 0],
        [3, null],
      ],
    ]);
    window.free('a');
    window.add([event(4, 'a')], 4n);
    expect(seqs(takeAll(window))).toEqual([4]);
  });
});

test('any history settles each event once, in order in each room', () => {
  for (let run = 0; run < 200; run += 1) {
    const isByRoom = run % 2 === 0;
    const window = new DeliveryWindow(0n, isByRoom, []);
    const count = 60;
    const events = Array.from({ length: count }, (_, at) =>
      event(at + 1, ['a', 'b', 'c', ''][(at * 7 + run) % 4]),
    );
    const [sent, aside]: [LoggedEvent[], bigint[]] = [[], []];
    let [added, place] = [0, 0n];
    const underWay: LoggedEvent[] = [];
    while (place < BigInt(count)) {
      const luck = Math.random();
      if (luck < 0.3 && added < count) {
        const next = events.slice(added, added + 5);
        added += next.length;
        window.add(next, BigInt(added));
      } else if (luck < 0.6) {
        const [next] = window.takeNext(1);
        if (next) underWay.push(next);
      } else if (underWay.length > 0) {
        const [ended] = underWay.splice(Math.floor(Math.random() * underWay.length), 1);
        sent.push(ended!);
        if (Math.random() < 0.05) window.putAside(ended!, 1, 5);
        else window.deliver(ended!);
      }
      const settled = window.takeSettled();
      if (!settled) continue;
      expect(settled.to).toBeGreaterThan(place);
      place = settled.to;
      aside.push(...settled.put.map(({ seq }) => seq));
    }
    const all = new Set([...sent.map(({ seq }) => seq), ...aside]);
    expect(all.size).toBe(count);
    if (!isByRoom) continue;
    for (const room of ['a', 'b', 'c', null]) {
      const of = sent.filter(({ roomUid }) => roomUid === room).map(({ seq }) => seq);
      expect(of).toEqual(of.toSorted((a, b) => Number(a - b)));
    }
  }
});
