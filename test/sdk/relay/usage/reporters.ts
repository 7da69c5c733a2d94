/** Reporters for tests: a folder, a clock, a service and the events of each test. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { UsageEvent } from '../../../../sdk/typescript/src/relay/usage/events.ts';
import {
  openUsageReporter,
  type UsageReporter,
  type UsageReporterOptions,
} from '../../../../sdk/typescript/src/relay/usage/reporter.ts';
import type { ParticipantUsage } from '../../../../sdk/typescript/src/relay/usage/usage-record.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeService } from './usage-server.ts';

export interface Bench {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly service: FakeService;
  readonly events: UsageEvent[];
  /** The events of one type. */
  eventsOf<T extends UsageEvent['type']>(type: T): Extract<UsageEvent, { type: T }>[];
  open(options?: Partial<UsageReporterOptions>): Promise<UsageReporter>;
  files(): Promise<string[]>;
}

/** Fresh folder, clock, service and events for each test of the file. What a test opens is closed after it. */
export function useBench(): Bench {
  let folder: string;
  let clock: FakeClock;
  let service: FakeService;
  let events: UsageEvent[];
  let opened: UsageReporter[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'usage-spool-'));
    clock = new FakeClock();
    service = new FakeService();
    events = [];
    opened = [];
  });
  afterEach(async () => {
    for (const reporter of opened) {
      const closed = reporter.close({ deadlineSeconds: 0 });
      let over = false;
      void closed.then(() => {
        over = true;
      });
      await vi.waitFor(() => {
        clock.advance(1_000);
        expect(over).toBe(true);
      }, 60_000);
    }
    await rm(folder, { recursive: true });
  });

  return {
    get folder() {
      return folder;
    },
    get clock() {
      return clock;
    },
    get service() {
      return service;
    },
    get events() {
      return events;
    },
    eventsOf: (type) => events.filter((event) => event.type === type) as never,
    open: async (options = {}) => {
      const reporter = await openUsageReporter({
        url: 'https://billing.test',
        key: 'relay-key',
        spool: folder,
        relayId: 'relay-7',
        onEvent: (event) => events.push(event),
        clock,
        random: () => 1,
        fetch: service.fetch,
        ...options,
      });
      opened.push(reporter);
      return reporter;
    },
    files: async () => (await readdir(folder)).filter((name) => !name.startsWith('lock.')).sort(),
  };
}

/** Store usage at once, regardless of the clock. */
export async function store(reporter: UsageReporter, usages: readonly ParticipantUsage[]): Promise<string[]> {
  const stored = usages.map((usage) => reporter.record(usage));
  await reporter.sync();
  return (await Promise.all(stored)).flat();
}

export function usage(fields: Partial<ParticipantUsage> = {}): ParticipantUsage {
  return {
    role: 'host',
    tier: 'hd',
    seconds: 60,
    egressBytes: 50_000_000,
    ingressBytes: 1_000_000,
    ...fields,
  };
}

export function usages(count: number, fields: Partial<ParticipantUsage> = {}): ParticipantUsage[] {
  return Array.from({ length: count }, (_, index) => usage({ participant: `p-${index}`, ...fields }));
}
