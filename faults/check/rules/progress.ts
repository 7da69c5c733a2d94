/** Rules of progress: a campaign in which nothing is answered shows nothing, however many faults it had. */
import type { Facts } from '../facts.ts';
import { type Entry, endOf, type Report } from '../journal.ts';
import { neverPaid, payersOf } from '../payers.ts';
import type { Look, Rule } from '../rule.ts';

export const PROGRESS_RULES: readonly Rule[] = [
  { name: 'usage is acknowledged again soon after each fault', check: checkSilence },
  { name: 'usage of tenants that paid is not behind that of others', check: checkPrecedence },
];

/** The longest that a fault and what it leaves may take. PostgreSQL alone has 150 seconds to come back. */
const SILENT_US = 240_000_000;
/** So long a tenant that paid may wait while this many batches of tenants that never paid are sent and acknowledged. */
const BEHIND_US = 60_000_000;
const OVERTAKEN_MIN = 10;

/** A time in which a tenant sent batches, and none was acknowledged: from the first of them on. */
interface Silence {
  readonly tenant: string;
  readonly fromUs: number;
  /** When one was acknowledged, or the last one was sent. */
  readonly untilUs: number;
}

const wasAcknowledged = ({ outcome }: Entry) => outcome === 'ok';

function silencesOf(tenant: string, reports: readonly Report[]): readonly Silence[] {
  const times = reports
    .flatMap(({ entry }) => [
      { atUs: entry.invokedUs, isAnswer: false },
      ...(wasAcknowledged(entry) ? [{ atUs: endOf(entry), isAnswer: true }] : []),
    ])
    .toSorted((a, b) => a.atUs - b.atUs);
  const silences: Silence[] = [];
  let fromUs: number | undefined;
  for (const { atUs, isAnswer } of times) {
    if (isAnswer && fromUs !== undefined) silences.push({ tenant, fromUs, untilUs: atUs });
    fromUs = isAnswer ? undefined : (fromUs ?? atUs);
  }
  if (fromUs !== undefined) silences.push({ tenant, fromUs, untilUs: times.at(-1)!.atUs });
  return silences;
}

/** What a tenant that never paid was refused was meant to be refused. */
function silencesIn(facts: Facts): readonly Silence[] {
  const free = neverPaid(facts);
  const asked = facts.journal.reports.filter(
    ({ tenant, entry }) => !(free.has(tenant) && entry.outcome === 'refused'),
  );
  return [...Map.groupBy(asked, ({ tenant }) => tenant)].flatMap(([tenant, reports]) =>
    silencesOf(tenant, reports),
  );
}

const secondsOf = ({ fromUs, untilUs }: Silence) => Math.round((untilUs - fromUs) / 1_000_000);

/** While a tenant sends batches, some are acknowledged. */
function checkSilence(facts: Facts, look: Look): void {
  look.at(facts.journal.reports.filter(({ entry }) => wasAcknowledged(entry)).length);
  for (const silence of silencesIn(facts)) {
    const { tenant, fromUs, untilUs } = silence;
    if (untilUs - fromUs > SILENT_US)
      look.wrong(`no batch of ${tenant} was acknowledged from ${fromUs} us on, for ${secondsOf(silence)} s`);
  }
}

/** Those that never paid come after all others (docs/limits.md), however many they are. */
function checkPrecedence(facts: Facts, look: Look): void {
  const [payers, free] = [payersOf(facts), neverPaid(facts)];
  const others = facts.journal.reports.filter(
    ({ tenant, entry }) => free.has(tenant) && wasAcknowledged(entry),
  );
  for (const silence of silencesIn(facts).filter(({ tenant }) => payers.has(tenant))) {
    const { tenant, fromUs, untilUs } = silence;
    look.at();
    if (untilUs - fromUs <= BEHIND_US) continue;
    const overtaken = others.filter(({ entry }) => entry.invokedUs > fromUs && endOf(entry) < untilUs).length;
    if (overtaken >= OVERTAKEN_MIN)
      look.wrong(
        `${tenant} waited for ${secondsOf(silence)} s, while ${overtaken} batches of tenants that never paid were acknowledged`,
      );
  }
}
