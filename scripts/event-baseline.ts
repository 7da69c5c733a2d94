/**
 * Records the schemas of events with each release, so that a test can find changes that receivers would notice.
 *
 *     node scripts/event-baseline.ts       test/outward/events/released-schemas.json
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { schemaVersionOf } from '../src/outward/events/event-catalogue.ts';
import { DESCRIBED_EVENTS } from '../src/outward/events/schemas/event-schemas.ts';
import type { Schema } from './describe-rest.ts';

const PATH = fileURLToPath(new URL('../test/outward/events/released-schemas.json', import.meta.url));

/** What a schema says of values. Each path names a member: its type, whether it is always there, and its words. */
export interface ReleasedSchema {
  readonly version: number;
  readonly members: Readonly<Record<string, ReleasedMember>>;
}

export interface ReleasedMember {
  readonly type: string;
  readonly isRequired: boolean;
  readonly words?: readonly string[];
}

/** By type of event. */
export type ReleasedSchemas = Readonly<Record<string, ReleasedSchema>>;

export function releasedSchemas(): ReleasedSchemas {
  return Object.fromEntries(
    DESCRIBED_EVENTS.map(({ type, schema }) => [
      type,
      { version: schemaVersionOf(type), members: Object.fromEntries(membersOf(schema as Schema, '')) },
    ]),
  );
}

function membersOf({ properties = {}, required = [] }: Schema, inside: string): [string, ReleasedMember][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${inside}/${name}`;
    const item = schema.items ?? schema;
    const [kind, of] = [schema.items ? 'array of ' : '', item.format ?? item.type];
    const member = {
      type: `${kind}${of}`,
      isRequired: required.includes(name),
      ...(item.enum && { words: item.enum }),
    };
    return [[path, member] as [string, ReleasedMember], ...membersOf(item, path)];
  });
}

/** What changed in a way that is not allowed. */
export function findBreaks(before: ReleasedSchemas, after: ReleasedSchemas): string[] {
  return Object.entries(before).flatMap(([type, released]) => {
    const now = after[type];
    if (!now) return [`${type} is gone`];
    const breaks = Object.entries(released.members).flatMap(([path, member]) =>
      breaksOf(member, now.members[path]).map((what) => `${type}${path} ${what}`),
    );
    const added = Object.entries(now.members)
      .filter(([path, { isRequired }]) => !(path in released.members) && isRequired && isOwn(path, released))
      .map(([path]) => `${type}${path} is new, and not optional`);
    const isSame = JSON.stringify(released.members) === JSON.stringify(now.members);
    const isNewer = now.version === released.version + (isSame ? 0 : 1);
    return [...breaks, ...added, ...(isNewer ? [] : [`${type} has the version ${now.version}`])];
  });
}

/** Whether a new member is in an object that is not new itself. */
function isOwn(path: string, { members }: ReleasedSchema): boolean {
  const outer = path.slice(0, path.lastIndexOf('/'));
  return outer === '' || outer in members;
}

function breaksOf(before: ReleasedMember, after: ReleasedMember | undefined): string[] {
  if (!after) return ['is gone'];
  const lost = (before.words ?? []).filter((word) => !after.words?.includes(word));
  return [
    ...(after.type === before.type ? [] : [`was ${before.type}, and is ${after.type}`]),
    ...(before.isRequired === after.isRequired ? [] : [after.isRequired ? 'is not optional' : 'is optional']),
    ...(before.words === undefined && after.words !== undefined ? ['has only some words'] : []),
    ...lost.map((word) => `is never ${word}`),
  ];
}

if (import.meta.main) {
  writeFileSync(PATH, JSON.stringify(releasedSchemas(), null, 2));
  execFileSync('biome', ['format', '--write', PATH]);
}
