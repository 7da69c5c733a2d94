/** Faults as excuses: when each of them was there, which service it touched, and by how much a clock was wrong. */
import type { Facts } from './facts.ts';
import { type Entry, endOf } from './journal.ts';

export interface FaultTime {
  readonly name: string;
  /** The only service that it touched; `undefined`: it may have touched any. */
  readonly service: number | undefined;
  readonly fromUs: number;
  readonly untilUs: number;
  /** By so much the clock was wrong. */
  readonly shiftUs: number;
}

const SERVICES = [/first service/, /second service/];

/** What was tried in vain has disturbed nothing, but for locks that were held in part, and clocks that were about to change. */
const TOUCHES_NONE = /missed/;
const IS_NEVER_IN_VAIN = /lock|clock/;

/** In the order of their beginnings. */
export function faultTimes(facts: Facts): readonly FaultTime[] {
  return facts
    .of('fault')
    .flatMap((fault): FaultTime[] => {
      const { name = '', detail = '', begunUs = fault.invokedUs, shiftMs = 0 } = fault.args;
      if (TOUCHES_NONE.test(detail) && !IS_NEVER_IN_VAIN.test(name)) return [];
      const service = SERVICES.findIndex((lane) => lane.test(detail));
      return [
        {
          ...{ name, fromUs: begunUs, untilUs: endOf(fault), shiftUs: shiftMs * 1_000 },
          service: service === -1 ? undefined : service,
        },
      ];
    })
    .toSorted((a, b) => a.fromUs - b.fromUs);
}

/** Takes as long as the provider, or as the stream is open. */
const WAITS_FOR_OTHERS = /^(checkout|auto_top_up|revocations.follow)/;

/** Requests whose answers took longer: the machine of a campaign has much else to do. */
export function lateAnswers(facts: Facts, longerUs: number): readonly Entry[] {
  return [...facts.journal.entries, ...facts.journal.reports.map(({ entry }) => entry)].filter(
    ({ op, invokedUs, returnedUs }) => !WAITS_FOR_OTHERS.test(op) && (returnedUs ?? 0) - invokedUs > longerUs,
  );
}

/** Times in which answers of a service were late, as one fault each: what it does by itself is late, too. */
export function lateTimes(facts: Facts, longerUs: number): readonly FaultTime[] {
  const times: FaultTime[] = [];
  const inOrder = lateAnswers(facts, longerUs).toSorted((a, b) => a.invokedUs - b.invokedUs);
  for (const { args, invokedUs: fromUs, returnedUs } of inOrder) {
    const service = args.service === undefined || args.service < 0 ? undefined : args.service;
    const own = { name: 'answers of a service are late', service, shiftUs: 0 };
    const at = times.findLastIndex((time) => time.service === service);
    const before = times[at];
    if (before && before.untilUs >= fromUs)
      times[at] = { ...before, untilUs: Math.max(before.untilUs, returnedUs!) };
    else times.push({ ...own, fromUs, untilUs: returnedUs! });
  }
  return times;
}

/** From and until, in microseconds. */
export type Time = readonly [number, number];

export const overlaps = ({ fromUs, untilUs }: FaultTime, [from, until]: Time): boolean =>
  fromUs <= until && untilUs >= from;

/** Whether it may have touched a service; `undefined`: one that is not known. */
export const touches = (fault: FaultTime, service: number | undefined): boolean =>
  fault.service === undefined || service === undefined || fault.service === service;

/** By how much a clock was wrong at some moment of a time. It was right at another one, unless the fault lasted for all of it: nearly none does. */
export function shiftsDuring(faults: readonly FaultTime[], clock: RegExp, time: Time): readonly number[] {
  const wrong = faults.filter((fault) => clock.test(fault.name) && overlaps(fault, time));
  return [0, ...wrong.map(({ shiftUs }) => shiftUs)];
}

const OF_POSTGRES = /clock of PostgreSQL/;

/**
 * By how much longer than it should something may last that PostgreSQL's clock begins in one time and ends in another: the clock was
 * ahead at the beginning, or behind at the end.
 */
export function lasts(faults: readonly FaultTime[], begins: Time, ends: Time): number {
  const [first, last] = [begins, ends].map((time) => shiftsDuring(faults, OF_POSTGRES, time)) as [
    readonly number[],
    readonly number[],
  ];
  return Math.max(...first) - Math.min(...last);
}
