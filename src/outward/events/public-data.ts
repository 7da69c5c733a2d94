/** Types of the `data` of events, as receivers get it. */
import type { ModerationEvent } from '../../control/moderation/moderation-event.ts';
import type { RoomState } from '../../control/rooms/room.ts';
import type { Amount } from '../../money/amount.ts';
import type { Month } from '../../money/month.ts';
import type { PublicSubjects } from './event-catalogue.ts';

/** Members of subjects that are amounts: decimal strings of micros. */
export const AMOUNTS = [
  'amount',
  'balance',
  'below',
  'burnPerHour',
  'left',
  'opening',
  'closing',
  'limit',
  'spent',
] as const;

type AmountName = (typeof AMOUNTS)[number];

/** Subjects that `renderPublicEvent()` changes, as they are then. */
interface ChangedSubjects {
  readonly room: Omit<PublicSubjects['room'], 'state'> & { readonly state: Lowercase<RoomState> };
  readonly moderation: ModerationEvent;
}

/** The data of an event about this subject. */
export type PublicData<S extends keyof PublicSubjects> = PublicForm<
  S extends keyof ChangedSubjects ? ChangedSubjects[S] : PublicSubjects[S]
>;

/** Names in `snake_case`, amounts as in the REST interface, times as texts, and members that may be `null` absent. */
type PublicForm<T> = Members<Pick<T, Exclude<keyof T, Nullable<T>>>> & Partial<Members<Pick<T, Nullable<T>>>>;

type Nullable<T> = {
  [K in keyof T]-?: null extends T[K] ? K : undefined extends T[K] ? K : never;
}[keyof T];

type Members<T> = {
  -readonly [K in keyof T as SnakeCase<K & string>]: PublicValue<K, NonNullable<T[K]>>;
};

type PublicValue<K, V> = V extends string
  ? K extends AmountName
    ? Amount
    : V extends Month
      ? string
      : V
  : V extends Date
    ? string
    : V extends readonly (infer E)[]
      ? PublicValue<'', E>[]
      : V extends object
        ? PublicForm<V>
        : V;

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : Name;
