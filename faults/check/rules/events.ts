/** Rules of the log of events: nothing is missing, nothing is there twice, and the order is that of time. */
import { tenantOf } from '../database.ts';
import { erasuresOf, personOf } from '../erasures.ts';
import type { Facts, LoggedEvent } from '../facts.ts';
import { type Entry, endOf, roomIn } from '../journal.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';
import { describeEvent } from '../views.ts';

export const EVENT_RULES: readonly Rule[] = [
  { name: 'events are numbered without a gap', check: checkNumbers },
  { name: 'the list of events is the log', check: checkList },
  { name: 'an event that was read stays as it was', check: checkRead },
  { name: 'what was acknowledged is in the log, and nothing twice', check: checkCounts },
  { name: 'events are in the order in which they were acknowledged', check: checkOrder },
];

async function checkNumbers(facts: Facts, look: Look): Promise<void> {
  const logs = await facts.logs;
  const streams = await facts.db.rows(
    `select ${tenantOf('tenant_id')} as tenant, last_seq from event_streams
      where ${tenantOf('tenant_id')} = any ($1)`,
    [[...facts.tenants]],
  );
  for (const { tenant, last_seq } of streams) {
    const events = logs.get(tenant!) ?? [];
    const gap = events.findIndex(({ seq }, at) => seq !== at + 1);
    look.at(events.length);
    if (gap !== -1) look.wrong(`${tenant} has ${events[gap]!.seq} where ${gap + 1} should be`);
    if (events.length !== Number(last_seq))
      look.wrong(`${tenant} has ${events.length} events, of which ${last_seq} were numbered`);
  }
}

async function checkList(facts: Facts, look: Look): Promise<void> {
  const logs = await facts.logs;
  for (const tenant of facts.readable) {
    const textOf = ({ seq, type }: { seq: number; type: string }) => `${seq} ${type}`;
    const [listed, logged] = [await facts.eventsOf(tenant), logs.get(tenant) ?? []];
    const shown = new Set(listed.map(textOf));
    look.at(logged.length);
    for (const event of logged)
      if (!shown.delete(textOf(event))) look.wrong(`${textOf(event)} of ${tenant} is not listed`);
    for (const text of shown) look.wrong(`${text} of ${tenant} is listed, and not in the log`);
    const ids = new Set(listed.map(({ id }) => id));
    if (ids.size !== listed.length) look.wrong(`two events of ${tenant} have one id`);
  }
}

/** Pages that clients read meanwhile, beside the list of now. A number that was given is never given again. */
async function checkRead(facts: Facts, look: Look): Promise<void> {
  const pages = Map.groupBy(facts.of('events.list'), ({ args }) => args.tenant!);
  for (const tenant of facts.readable) {
    if (!pages.has(tenant)) continue;
    const now = new Map((await facts.eventsOf(tenant)).map((event) => [event.seq, event]));
    for (const { seq, id, type, digest } of pages
      .get(tenant)!
      .flatMap(({ answer }) => answer?.events ?? [])) {
      const [was, is] = [`${id} ${type} ${digest}`, describeEvent(now.get(seq), digest)];
      look.at();
      if (was !== is) look.wrong(`${seq} of ${tenant} was ${was}, and is ${is}`);
    }
  }
}

/** How an operation and its event name the same. */
interface Told {
  readonly op: string;
  readonly type: string;
  readonly ofEntry: (entry: Entry) => string | undefined;
  readonly ofEvent: (event: LoggedEvent) => string | undefined;
}

const moderated = (op: string, action = op): Told => ({
  op,
  type: 'moderation',
  ofEntry: ({ args }) => JSON.stringify([action, args.room, args.username ?? args.device]),
  ofEvent: ({ subject }) => JSON.stringify([subject.action, subject.room, subject.subject?.value]),
});

const TOLD: readonly Told[] = [
  {
    op: 'key.create',
    type: 'key_created',
    ofEntry: ({ answer }) => answer?.key?.id,
    ofEvent: ({ subject }) => subject.key?.id,
  },
  {
    op: 'key.rotate',
    type: 'key_rotated',
    ofEntry: ({ answer }) => answer?.key?.id,
    ofEvent: ({ subject }) => subject.key?.id,
  },
  {
    op: 'key.revoke',
    type: 'key_revoked',
    ofEntry: ({ args }) => args.id,
    ofEvent: ({ subject }) => subject.key?.id,
  },
  {
    op: 'room.create',
    type: 'room_created',
    ofEntry: (entry) => roomIn(entry).uid,
    ofEvent: ({ roomUid }) => roomUid ?? undefined,
  },
  {
    op: 'room.end',
    type: 'room_ended',
    ofEntry: (entry) => roomIn(entry).uid,
    ofEvent: ({ roomUid }) => roomUid ?? undefined,
  },
  moderated('kick'),
  moderated('ban'),
  moderated('unban'),
  moderated('ban.device', 'ban'),
  moderated('unban.device', 'unban'),
];

/** Operations of a tenant that name the same, and their events. */
interface Pair {
  readonly tenant: string;
  readonly what: string;
  readonly entries: readonly Entry[];
  /** Operations of before the end of an erasure of the person, whose events may not say the name any more. */
  readonly blurred: number;
  readonly events: readonly LoggedEvent[];
}

async function findPairs(facts: Facts): Promise<readonly Pair[]> {
  const logs = await facts.logs;
  const erasures = await erasuresOf(facts);
  const isBlurred = (entry: Entry) =>
    entry.args.username !== undefined &&
    (erasures.get(personOf(entry)) ?? []).some((erasure) => entry.invokedUs <= endOf(erasure));
  return TOLD.flatMap(({ op, type, ofEntry, ofEvent }) => {
    const asked = withoutRepetitions(facts.of(op)).filter(({ outcome }) => outcome !== 'refused');
    return [...Map.groupBy(asked, ({ args }) => args.tenant!)].flatMap(([tenant, entries]) => {
      const events = Map.groupBy(
        (logs.get(tenant) ?? []).filter((event) => event.type === type),
        ofEvent,
      );
      return [...Map.groupBy(entries, ofEntry)].flatMap(([name, same]): Pair[] => {
        if (name === undefined) return [];
        const clear = same.filter((entry) => !isBlurred(entry));
        const own = { entries: clear, blurred: same.length - clear.length, events: events.get(name) ?? [] };
        return clear.length === 0 ? [] : [{ tenant, what: `${op} ${name}`, ...own }];
      });
    });
  });
}

const BANS = /^ban(\.device)? /;

async function checkCounts(facts: Facts, look: Look): Promise<void> {
  for (const { tenant, what, entries, blurred, events } of await findPairs(facts)) {
    const certain = entries.filter(({ outcome }) => outcome === 'ok').length;
    look.at();
    // A ban of a user or a device that is banned tells nothing new, and one of before may not be told by name.
    const few = BANS.test(what) ? Math.min(certain, blurred > 0 ? 0 : 1) : certain;
    if (events.length > entries.length + blurred || events.length < few)
      look.wrong(
        `${what} of ${tenant} has ${events.length} events, for ${certain} to ${entries.length} answers`,
      );
  }
}

/** If an operation was acknowledged before another began, its event comes first. Looks at operations with one event each. */
async function checkOrder(facts: Facts, look: Look): Promise<void> {
  const pairs = (await findPairs(facts)).filter(
    ({ entries, blurred, events }) => entries.length === 1 && blurred === 0 && events.length === 1,
  );
  for (const [tenant, own] of Map.groupBy(pairs, (pair) => pair.tenant)) {
    const ended = own.toSorted((a, b) => endOf(a.entries[0]!) - endOf(b.entries[0]!));
    let newest: Pair | undefined;
    let at = 0;
    for (const pair of own.toSorted((a, b) => a.entries[0]!.invokedUs - b.entries[0]!.invokedUs)) {
      for (; endOf(ended[at]!.entries[0]!) < pair.entries[0]!.invokedUs; at += 1)
        if (!newest || ended[at]!.events[0]!.seq > newest.events[0]!.seq) newest = ended[at]!;
      look.at();
      if (newest && newest.events[0]!.seq > pair.events[0]!.seq)
        look.wrong(
          `${newest.what} of ${tenant} is ${newest.events[0]!.seq}, and ${pair.what}, which began later, ${pair.events[0]!.seq}`,
        );
    }
  }
}
