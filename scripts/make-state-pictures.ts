/** Draws `docs/images/states.svg`: the states of tenants, keys, top-ups, rooms, participants and webhooks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TenantStatus } from '../src/base/tenants/tenant.ts';
import type { RoomState } from '../src/control/rooms/room.ts';
import type { AttemptState } from '../src/money/top-ups/attempt.ts';

/** One row of the picture. States stand from left to right, at most five. */
interface Machine<State extends string = string> {
  readonly name: string;
  /** Every state, with what it means. */
  readonly states: Readonly<Record<State, string>>;
  /** An arrow between neighbours is straight. Others are arcs: above to the right, below to the left. */
  readonly moves: readonly (readonly [from: State, to: State, when: string])[];
}

export const TENANT: Machine<TenantStatus> = {
  name: 'Tenant',
  states: {
    pending: 'signed up',
    active: 'has paid',
    suspended: 'no new sessions',
    archived: 'at rest',
    deleted: 'for ever',
  },
  moves: [
    ['pending', 'active', 'first payment'],
    ['active', 'suspended', 'operator'],
    ['suspended', 'archived', 'operator'],
    ['archived', 'deleted', 'operator'],
    ['suspended', 'active', 'operator'],
    ['archived', 'active', 'operator'],
    ['active', 'archived', 'operator'],
    ['pending', 'deleted', 'operator, from every state'],
  ],
};

const KEY: Machine = {
  name: 'API key',
  states: { working: 'accepted', retiring: 'both work', revoked: 'refused at once' },
  moves: [
    ['working', 'retiring', 'rotated'],
    ['retiring', 'revoked', 'over, or revoked'],
    ['working', 'revoked', 'revoked'],
  ],
};

const TOP_UP: Machine<AttemptState> = {
  name: 'Top-up',
  states: {
    pending: 'due',
    unknown: 'sent',
    succeeded: 'credited',
    declined: 'by the card',
    canceled: 'no charge',
  },
  moves: [
    ['pending', 'unknown', 'is sent'],
    ['unknown', 'succeeded', 'paid'],
    ['unknown', 'declined', 'declined'],
    ['unknown', 'canceled', 'refused, or no charge'],
    ['pending', 'canceled', 'no longer due or allowed'],
  ],
};

const ROOM: Machine<RoomState> = {
  name: 'Room',
  states: { LIVE: 'admits joins', ENDED: 'the name is free' },
  moves: [['LIVE', 'ENDED', 'ended or closed']],
};

const PARTICIPANT: Machine = {
  name: 'Participant',
  states: { present: 'holds a token', left: 'shown for 7 days' },
  moves: [
    ['present', 'left', 'expired, expelled'],
    ['left', 'present', 'joins again'],
  ],
};

const WEBHOOK: Machine = {
  name: 'Webhook',
  states: { delivering: 'in order', retrying: 'the same event', paused: 'the log waits' },
  moves: [
    ['delivering', 'retrying', 'fails'],
    ['retrying', 'paused', 'fails too often'],
    ['retrying', 'delivering', 'delivered'],
    ['delivering', 'paused', 'by the tenant, or 410'],
    ['paused', 'delivering', 'resumed by the tenant'],
  ],
};

const MACHINES: readonly Machine[] = [TENANT, KEY, TOP_UP, ROOM, PARTICIPANT, WEBHOOK];

const [LEFT, STEP, WIDTH, HEIGHT, ROW] = [120, 240, 130, 44, 170];
const ARC = 30;
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
  .name { font-weight: 600; font-size: 15px; text-anchor: start }
  .note, .when { font-size: 11px; fill: #59636e }
  rect { fill: #f6f8fa; stroke: #818b98 }
  .page { fill: #fff; stroke: none }
  path { fill: none; stroke: #59636e }
  marker path { fill: #59636e; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .note, .when { fill: #9198a1 } rect { fill: #151b23; stroke: #656c76 }
    .page { fill: #0d1117 } path { stroke: #9198a1 } marker path { fill: #9198a1 }
  }`;

function drawMachine({ name, states, moves }: Machine, row: number): string {
  const names = Object.keys(states);
  const middle = row * ROW + ROW / 2;
  const xOf = (state: string) => LEFT + names.indexOf(state) * STEP + WIDTH / 2;
  const boxes = Object.entries(states).map(([state, meaning]) => drawBox(xOf(state), middle, state, meaning));
  const arrows = moves.map(([from, to, when]) => drawMove(xOf(from), xOf(to), middle, when));
  return [`<text class="name" x="12" y="${middle + 4}">${name}</text>`, ...arrows, ...boxes].join('\n');
}

function drawBox(x: number, y: number, state: string, meaning: string): string {
  return `<rect x="${x - WIDTH / 2}" y="${y - HEIGHT / 2}" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
<text x="${x}" y="${y - 3}">${state}</text>
<text class="note" x="${x}" y="${y + 13}">${meaning}</text>`;
}

function drawMove(from: number, to: number, y: number, when: string): string {
  return to - from === STEP ? drawStraight(from, to, y, when) : drawArc(from, to, y, when);
}

function drawStraight(from: number, to: number, y: number, when: string): string {
  const [start, end] = [from + WIDTH / 2, to - WIDTH / 2];
  return `<path d="M${start} ${y}H${end - 2}" marker-end="url(#end)"/>
${drawWhen((start + end) / 2, y - 5, when)}`;
}

/** Longer arcs are higher, and end further from the middle of their boxes. */
function drawArc(from: number, to: number, y: number, when: string): string {
  const side = Math.sign(to - from);
  const span = Math.abs(to - from) / STEP;
  const edge = y - (side * HEIGHT) / 2;
  const far = edge - side * (ARC + (span - 1) * 16);
  const [start, end] = [from + side * (36 - span * 8), to - side * (span * 10)];
  const [x, base] = [(start + end) / 2, edge - (edge - far) * 0.75 + 4];
  return `<path d="M${start} ${edge}C${start} ${far} ${end} ${far} ${end} ${edge - side * 2}" marker-end="url(#end)"/>
${drawGround(x, base, when)}
${drawWhen(x, base, when)}`;
}

/** A ground in the color of the page, so that lines do not cross the words. Its width is a guess, as fonts differ. */
function drawGround(x: number, y: number, when: string): string {
  const width = Math.round(when.length * 5.4 + 6);
  return `<rect class="page" x="${x - width / 2}" y="${y - 10}" width="${width}" height="13"/>`;
}

function drawWhen(x: number, y: number, when: string): string {
  return `<text class="when" x="${x}" y="${y}">${when}</text>`;
}

export function drawStates(): string {
  const [width, height] = [LEFT + 4 * STEP + WIDTH + 20, MACHINES.length * ROW];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -10 ${width} ${height}" role="img">
<title>The states of tenants, keys, top-ups, rooms, participants and webhooks</title>
<style>${STYLE}
</style>
<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
<rect class="page" y="-10" width="${width}" height="${height}"/>
${MACHINES.map(drawMachine).join('\n')}
</svg>
`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, '../docs/images/states.svg'), drawStates());
