/**
 * Messages of the contract as plain objects, so that users of the SDK need not know protobuf.
 *
 * A `Timestamp` is a `Date`. A `Duration` is a number of seconds, in a field with the suffix `Seconds`.
 * An enum is a lower-case word. The members of a `oneof` are fields like the others. The types are
 * derived from the generated ones, so the contract is defined once. Users of the SDK see the same types with
 * comments, in `control-types.ts`; a test compares the two.
 */
import type { Event_Type } from '@boxoffice/contract/event';
import type { ModerationEvent_Action } from '@boxoffice/contract/moderation';
import type { Participant_State } from '@boxoffice/contract/participant';
import type { Room_State, RoomPolicy_Mode } from '@boxoffice/contract/room';
import type { TrackKind } from '@boxoffice/contract/track_kind';
import type { Watchdog_Action, Watchdog_State } from '@boxoffice/contract/watchdog';
import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
  type UnknownEnum,
} from '@bufbuild/protobuf';
import {
  type Duration,
  DurationSchema,
  durationFromMs,
  durationMs,
  type Timestamp,
  TimestampSchema,
  timestampDate,
  timestampFromDate,
} from '@bufbuild/protobuf/wkt';

type Enum = Readonly<Record<string, number>>;
type Word<E extends Enum> = Lowercase<Exclude<keyof E, 'UNSPECIFIED'> & string>;
type EndsWith<Name extends string> = `${string}.${Name}`;

/** TypeScript treats all enums as numbers, so the field decides which enum it is. */
type EnumOf<Parent extends string, Field> = Field extends 'tracks' | 'muted' | 'publish' | 'publishRevoked'
  ? typeof TrackKind
  : Field extends 'mode'
    ? typeof RoomPolicy_Mode
    : Field extends 'type'
      ? typeof Event_Type
      : Field extends 'action'
        ? Parent extends EndsWith<'Watchdog'>
          ? typeof Watchdog_Action
          : typeof ModerationEvent_Action
        : Field extends 'state'
          ? Parent extends EndsWith<'Participant'>
            ? typeof Participant_State
            : Parent extends EndsWith<'Watchdog'>
              ? typeof Watchdog_State
              : typeof Room_State
          : never;

type Some<T> = Exclude<T, undefined>;
type Oneof = { case: string; value: unknown };
type NameOf<M extends Message> = M extends Message<infer Name> ? Name : never;
type IsOneof<T> = Extract<T, Oneof> extends never ? false : true;
type Renamed<Field, T> = Some<T> extends Duration ? `${Field & string}Seconds` : Field;

/** The fields that are not in a `oneof`, under their plain names. */
type PlainName<M, Field extends keyof M> = Field extends '$typeName' | '$unknown'
  ? never
  : IsOneof<M[Field]> extends true
    ? never
    : Renamed<Field, M[Field]>;

/** The members of all `oneof`s of a message. */
type Members<M> = Extract<M[keyof M], Oneof>;

type IsEnum<T> = number extends T ? false : [UnknownEnum] extends [T] ? true : false;

type PlainValue<Parent extends string, Field, T> =
  IsEnum<T> extends true
    ? Word<EnumOf<Parent, Field>> | 'unknown'
    : T extends readonly (infer Item)[]
      ? PlainValue<Parent, Field, Item>[]
      : T extends Timestamp
        ? Date
        : T extends Duration
          ? number
          : T extends Message
            ? Plain<T>
            : T;

/** `M` in an answer. A word that this version of the library does not know is `unknown`. */
export type Plain<M extends Message> = {
  [Field in keyof M as PlainName<M, Field>]: PlainValue<NameOf<M>, Field, Some<M[Field]>>;
} & {
  [Member in Members<M> as Renamed<Member['case'], Member['value']>]?: PlainValue<
    NameOf<M>,
    Member['case'],
    Member['value']
  >;
};

type InputValue<Parent extends string, Field, T> =
  IsEnum<T> extends true
    ? Word<EnumOf<Parent, Field>>
    : T extends readonly (infer Item)[]
      ? readonly InputValue<Parent, Field, Item>[]
      : T extends Timestamp
        ? Date
        : T extends Duration
          ? number
          : T extends Message
            ? Input<T>
            : T;

/** `M` in a request. At most one field of a `oneof` may be given. */
export type Input<M extends Message> = {
  readonly [Field in keyof M as PlainName<M, Field>]?:
    | InputValue<NameOf<M>, Field, Some<M[Field]>>
    | undefined;
} & {
  readonly [Member in Members<M> as Renamed<Member['case'], Member['value']>]?:
    | InputValue<NameOf<M>, Member['case'], Member['value']>
    | undefined;
};

/** A request. The client fills in the tenant and the idempotency key. */
export type Request<M extends Message, Required extends keyof Input<M> = never> = Omit<
  Input<M>,
  'tenant' | 'idempotencyKey' | 'updateMask' | Required
> & { readonly [Field in Required]: Some<Input<M>[Field]> };

type Values = Record<string, unknown>;

/** The name of a field in plain objects. */
function plainName(field: DescField): string {
  return field.message?.typeName === DurationSchema.typeName ? `${field.localName}Seconds` : field.localName;
}

export function toPlain<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): Plain<MessageShape<Desc>> {
  const plain: Values = {};
  for (const member of desc.members) {
    const value = (message as Values)[member.localName];
    if (member.kind === 'field') {
      if (value !== undefined) plain[plainName(member)] = plainValue(member, value);
      continue;
    }
    const chosen = value as { case?: string; value?: unknown };
    const field = member.fields.find(({ localName }) => localName === chosen.case);
    if (field) plain[plainName(field)] = plainValue(field, chosen.value);
  }
  return plain as Plain<MessageShape<Desc>>;
}

function plainValue(field: DescField, value: unknown): unknown {
  if (field.fieldKind === 'list') return (value as unknown[]).map((item) => plainItem(field, item));
  return plainItem(field, value);
}

function plainItem(field: DescField, value: unknown): unknown {
  if (field.enum) return wordOf(field.enum, value as number);
  if (!field.message) return value;
  switch (field.message.typeName) {
    case TimestampSchema.typeName:
      return timestampDate(value as Timestamp);
    case DurationSchema.typeName:
      return durationMs(value as Duration) / 1000;
    default:
      return toPlain(field.message, value as Message);
  }
}

function wordOf(desc: DescEnum, number: number): string {
  const known = number === 0 ? undefined : desc.value[number];
  return known ? known.localName.toLowerCase() : 'unknown';
}

/**
 * Throws `TypeError` with the path of the field for what the contract does not have; `inside` is the
 * path of `plain` itself.
 */
export function fromPlain<Desc extends DescMessage>(
  desc: Desc,
  plain: object,
  inside = '',
): MessageShape<Desc> {
  const message = create(desc) as Values;
  for (const [name, value] of Object.entries(plain)) {
    if (value === undefined) continue;
    const path = `${inside}${name}`;
    const field = desc.fields.find((each) => plainName(each) === name);
    if (!field) throw new TypeError(`${desc.name} has no field ${path}`);
    const wire = wireValue(field, value, path);
    if (!field.oneof) {
      message[field.localName] = wire;
      continue;
    }
    const chosen = message[field.oneof.localName] as { case?: string };
    if (chosen.case) {
      throw new TypeError(`${path}: ${desc.name} takes one of ${namesOf(field.oneof.fields)}`);
    }
    message[field.oneof.localName] = { case: field.localName, value: wire };
  }
  return message as MessageShape<Desc>;
}

function namesOf(fields: readonly DescField[]): string {
  return fields.map(plainName).join(', ');
}

function wireValue(field: DescField, value: unknown, path: string): unknown {
  if (field.fieldKind !== 'list') return wireItem(field, value, path);
  if (!Array.isArray(value)) throw new TypeError(`${path} must be an array`);
  // Not map(), which skips holes.
  return Array.from(value, (item, at) => wireItem(field, item, `${path}[${at}]`));
}

function wireItem(field: DescField, value: unknown, path: string): unknown {
  if (field.enum) return numberOf(field.enum, value, path);
  if (!field.message) return scalarOf(field.scalar, value, path);
  switch (field.message.typeName) {
    case TimestampSchema.typeName:
      return timestampOf(value, path);
    case DurationSchema.typeName:
      return durationOf(value, path);
    default:
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new TypeError(`${path} must be an object`);
      }
      return fromPlain(field.message, value, `${path}.`);
  }
}

/** The field types that the contract uses, and checks of their values. */
const SCALARS: { readonly [Type in ScalarType]?: readonly [what: string, is: (value: unknown) => boolean] } =
  {
    [ScalarType.STRING]: [
      'a well-formed string',
      (value) => typeof value === 'string' && value.isWellFormed(),
    ],
    [ScalarType.BOOL]: ['a boolean', (value) => typeof value === 'boolean'],
    [ScalarType.INT32]: [
      'a whole number of 32 bits',
      (value) => typeof value === 'number' && (value | 0) === value,
    ],
    [ScalarType.UINT64]: [
      'a bigint of 64 bits',
      (value) => typeof value === 'bigint' && BigInt.asUintN(64, value) === value,
    ],
  };

function scalarOf(type: ScalarType | undefined, value: unknown, path: string): unknown {
  const [what, is] = SCALARS[type!]!;
  if (!is(value)) throw new TypeError(`${path} must be ${what}`);
  return value;
}

function timestampOf(value: unknown, path: string): Timestamp {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) {
    throw new TypeError(`${path} must be a valid Date`);
  }
  return timestampFromDate(value);
}

function durationOf(value: unknown, path: string): Duration {
  const ms = typeof value === 'number' ? Math.round(value * 1000) : Number.NaN;
  if (!Number.isSafeInteger(ms) || ms / 1000 !== value) {
    throw new TypeError(`${path} must be a number of seconds, in whole milliseconds`);
  }
  return durationFromMs(ms);
}

function numberOf(desc: DescEnum, word: unknown, path: string): number {
  const known = desc.values.find(({ number, localName }) => number !== 0 && localName.toLowerCase() === word);
  if (!known) {
    const words = desc.values
      .filter(({ number }) => number !== 0)
      .map(({ localName }) => localName.toLowerCase());
    throw new TypeError(`${path} must be one of ${words.join(', ')}`);
  }
  return known.number;
}

/**
 * Paths of the fields in `changes`, for an `update_mask`. Throws `TypeError`, with the name
 * of `changes`, if there are none.
 */
export function maskOf(desc: DescMessage, changes: object, name: string): { paths: string[] } {
  const given = Object.entries(changes ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new TypeError(`${name} must have a field that is to change`);
  const paths = given.map(([each]) => desc.fields.find((field) => plainName(field) === each)?.name ?? each);
  return { paths };
}
