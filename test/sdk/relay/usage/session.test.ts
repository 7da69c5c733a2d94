import { describe, expect, it } from 'vitest';
import type { UsageEvent } from '../../../../sdk/typescript/src/relay/usage/events.ts';
import { Sessions, type Unrecorded } from '../../../../sdk/typescript/src/relay/usage/session.ts';
import type { ParticipantUsage } from '../../../../sdk/typescript/src/relay/usage/usage-record.ts';
import { FakeClock } from './fake-clock.ts';

/** Sessions on a fake disk, which can be made to fail. */
function open(): {
  clock: FakeClock;
  sessions: Sessions;
  stored: ParticipantUsage[];
  events: UsageEvent[];
  checkpoints: Unrecorded[][];
  disk: { works: boolean; answers: Promise<void> };
} {
  const clock = new FakeClock();
  const stored: ParticipantUsage[] = [];
  const events: UsageEvent[] = [];
  const disk = { works: true, answers: Promise.resolve() };
  let ids = 0;
  const record = async ({ usage }: Unrecorded) => {
    await disk.answers;
    if (!disk.works) throw new Error('no space');
    stored.push(usage);
  };
  const checkpoints: Unrecorded[][] = [];
  const sessions: Sessions = new Sessions({
    intervalMs: 30_000,
    clock,
    emit: (event) => events.push(event),
    newId: (session) => `${session}.${++ids}`,
    record,
    checkpoint: async () => void checkpoints.push(sessions.unrecorded()),
  });
  return { clock, sessions, stored, events, disk, checkpoints };
}

const WHO = { room: 'main', participant: 'Ada', role: 'audience', tier: 'hd' } as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a session', () => {
  it('becomes a record every 30 seconds, and one when it ends', async () => {
    const { clock, sessions, stored } = open();
    const session = sessions.start(WHO);
    session.add({ egressBytes: 100 });
    session.add({ egressBytes: 20, ingressBytes: 3 });
    clock.advance(30_000);
    await turn();
    session.add({ egressBytes: 7 });
    clock.advance(12_000);
    await session.end();
    clock.advance(60_000);
    await turn();
    const base = { sessionId: 's1', ...WHO };
    expect(stored).toEqual([
      { ...base, seconds: 30, egressBytes: 120, ingressBytes: 3 },
      { ...base, seconds: 12, egressBytes: 7, ingressBytes: 0 },
    ]);
  });

  it('becomes a record for each role and tier it had', async () => {
    const { clock, sessions, stored } = open();
    const session = sessions.start({ ...WHO, sessionId: 'ada' });
    session.add({ egressBytes: 1 });
    clock.advance(5_000);
    session.change({ tier: 'full_hd' });
    session.add({ egressBytes: 10 });
    clock.advance(5_000);
    session.change({ role: 'host', tier: 'hd' });
    clock.advance(5_000);
    session.change({ role: 'audience' });
    session.add({ egressBytes: 100 });
    clock.advance(5_000);
    await session.end();
    expect(stored.map(({ role, tier, seconds, egressBytes }) => [role, tier, seconds, egressBytes])).toEqual([
      ['audience', 'hd', 10, 101],
      ['audience', 'full_hd', 5, 10],
      ['host', 'hd', 5, 0],
    ]);
  });

  it('loses no fraction of a second over many intervals', async () => {
    const { clock, sessions, stored } = open();
    const session = sessions.start(WHO);
    for (let interval = 0; interval < 10; interval += 1) {
      clock.advance(29_900);
      session.change({ tier: 'hd' });
      clock.advance(100);
      await turn();
    }
    clock.advance(700);
    await session.end();
    expect(stored.reduce((sum, each) => sum + each.seconds, 0)).toBe(301);
  });

  it('does not report bytes of less than a second before there is a second', async () => {
    const { clock, sessions, stored } = open();
    clock.advance(29_500);
    const session = sessions.start(WHO);
    session.add({ egressBytes: 5 });
    clock.advance(500);
    await turn();
    expect(stored).toEqual([]);
    clock.advance(30_000);
    await turn();
    expect(stored).toMatchObject([{ seconds: 30, egressBytes: 5 }]);
    await session.end();
    expect(stored.reduce((sum, each) => sum + each.seconds, 0)).toBe(31);
  });

  it('reports nothing for a clock that goes back, and days for one that jumps', async () => {
    const { clock, sessions, stored } = open();
    const session = sessions.start(WHO);
    clock.setWall(0);
    clock.jump(-5_000);
    await session.end();
    expect(stored).toEqual([]);
    const other = sessions.start(WHO);
    clock.jump(200_000_000);
    await other.end();
    expect(stored).toMatchObject([{ seconds: 200_000 }]);
  });

  it('keeps what the disk refused for the next interval, and reports it', async () => {
    const { clock, sessions, stored, events, disk } = open();
    const session = sessions.start(WHO);
    session.add({ egressBytes: 100 });
    disk.works = false;
    clock.advance(30_000);
    await turn();
    expect(events).toEqual([{ type: 'interval_not_stored', sessionId: 's1', cause: new Error('no space') }]);
    session.add({ egressBytes: 1 });
    await expect(session.end()).rejects.toThrow('no space');
    clock.advance(10_000);
    disk.works = true;
    await session.end();
    expect(stored).toMatchObject([{ seconds: 30, egressBytes: 101 }]);
    await session.end();
    expect(stored).toHaveLength(1);
    expect(() => session.add({ egressBytes: 1 })).toThrow('the session has ended');
  });

  it('that ended on a full disk is stored once there is space again', async () => {
    const { clock, sessions, stored, disk } = open();
    const session = sessions.start(WHO);
    clock.advance(10_000);
    disk.works = false;
    await expect(session.end()).rejects.toThrow('no space');
    disk.works = true;
    clock.advance(20_000);
    await turn();
    expect(stored).toMatchObject([{ seconds: 10 }]);
  });

  it('does not end while an earlier interval may still fail', async () => {
    const { clock, sessions, stored, disk } = open();
    const session = sessions.start(WHO);
    session.add({ egressBytes: 9 });
    let answer = () => {};
    disk.answers = new Promise((resolve) => {
      answer = resolve;
    });
    clock.advance(30_000);
    const ending = session.end();
    disk.works = false;
    answer();
    await expect(ending).rejects.toThrow('no space');
    disk.works = true;
    await session.end();
    expect(stored).toMatchObject([{ seconds: 30, egressBytes: 9 }]);
  });

  it('refuses invalid counts, roles and tiers', () => {
    const { sessions } = open();
    const session = sessions.start(WHO);
    expect(() => session.add({ egressBytes: -1 })).toThrow(/egressBytes/);
    expect(() => session.add({ ingressBytes: 0.5 })).toThrow(/ingressBytes/);
    expect(() => session.change({ tier: '4k' as never })).toThrow(/tier/);
    expect(() => sessions.start({ ...WHO, role: 'guest' as never })).toThrow(/role/);
  });
});

it('closing ends every session', async () => {
  const { clock, sessions, stored } = open();
  for (let index = 0; index < 3; index += 1) sessions.start(WHO);
  clock.advance(4_000);
  await sessions.close();
  expect(stored.map((each) => [each.sessionId, each.seconds])).toEqual([
    ['s1', 4],
    ['s2', 4],
    ['s3', 4],
  ]);
  expect(clock.timers).toEqual([]);
});

describe('the usage of running sessions', () => {
  it('is kept every second under the id that its record gets, and once more after the last one', async () => {
    const { clock, sessions, checkpoints } = open();
    const session = sessions.start(WHO);
    session.add({ egressBytes: 100 });
    clock.advance(1_000);
    session.add({ egressBytes: 20 });
    clock.advance(1_000);
    await session.end();
    clock.advance(5_000);
    const kept = checkpoints.map((records) =>
      records.map(({ id, usage }) => [id, usage.seconds, usage.egressBytes]),
    );
    expect(kept).toEqual([[['s1.1', 1, 100]], [['s1.1', 2, 120]], []]);
  });

  it('is kept with the record that is on its way to the disk', async () => {
    const { clock, sessions, checkpoints, disk } = open();
    const stored = Promise.withResolvers<void>();
    disk.answers = stored.promise;
    sessions.start(WHO).add({ egressBytes: 100 });
    clock.advance(31_000);
    stored.resolve();
    await turn();
    clock.advance(1_000);
    const kept = checkpoints.slice(-2).map((records) => records.map(({ id, usage }) => [id, usage.seconds]));
    expect(kept).toEqual([
      [
        ['s1.1', 30],
        ['s1.2', 1],
      ],
      [['s1.2', 2]],
    ]);
  });

  it('is kept again, under the same id, after its record could not be stored', async () => {
    const { clock, sessions, disk } = open();
    disk.works = false;
    sessions.start(WHO).add({ egressBytes: 100 });
    clock.advance(30_000);
    await turn();
    expect(sessions.unrecorded().map(({ id, usage }) => [id, usage.seconds, usage.egressBytes])).toEqual([
      ['s1.1', 30, 100],
    ]);
  });
});
