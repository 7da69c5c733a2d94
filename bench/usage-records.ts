/** Usage records for benchmarks, and their encoding. */
import { randomHex } from '../src/base/lib/ids.ts';
import { requestBytes } from './load.ts';

/** Part of every id, so that a server that keeps its data can be measured again. */
const BOOT = randomHex(3);
const PARTICIPANTS = 500;
const ROOMS = 40;

export interface UsageRow {
  readonly id: string;
  readonly room: string;
  readonly participant: string;
}

/** Records of a relay, numbered from `first`. Ids differ between numbers and between relays. */
export function makeRows(relay: number, first: number, count: number): UsageRow[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const participant = number % PARTICIPANTS;
    const interval = Math.floor(number / PARTICIPANTS);
    return {
      id: `relay-${relay}.boot-${BOOT}.s${pad(participant, 4)}.i${pad(interval, 6)}`,
      room: `room-${number % ROOMS}`,
      participant: `user-${participant}`,
    };
  });
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** A request with these records. Each is one minute of a participant. */
export function usageRequest(url: string, token: string | undefined, rows: readonly UsageRow[]): Buffer {
  const records = rows.map((row) => ({
    ...row,
    role: 'audience',
    tier: 'hd',
    seconds: 60,
    egress_bytes: 11_250_000,
    ingress_bytes: 90_000,
  }));
  return requestBytes('POST', `${url}/v1/usage`, { token, json: JSON.stringify({ records }) });
}

/** A table with the columns of `usage_records` and one unique index. */
export const BARE_TABLE = `create table bare (
  tenant_id bigint not null, posting_seq bigint not null, egress_bytes bigint, ingress_bytes bigint, amount bigint,
  seconds integer, line smallint, role "char", tier "char", capped boolean, id text collate "C" not null, room text,
  participant text, unique (tenant_id, id))`;

/** The input of `copy bare from stdin`. */
export function copyText(tenant: bigint, seq: number, rows: readonly UsageRow[]): Buffer {
  const lines = rows.map(
    ({ id, room, participant }, line) =>
      `${tenant}\t${seq}\t11250000\t90000\t210\t60\t${line}\ta\th\tf\t${id}\t${room}\t${participant}\n`,
  );
  return Buffer.from(lines.join(''));
}

/** The fields of a `POST /v1/usage` answer that benchmarks check. */
export interface Charged {
  readonly charged: number;
  readonly duplicates: number;
}

export function parseCharged(body: string): Charged {
  return JSON.parse(body);
}
