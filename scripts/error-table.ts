/** The table of control-plane failures, `proto/boxoffice/control/v1/errors.json`: its form, and what it says of each method. */
import { readFileSync } from 'node:fs';
import { BudgetService } from '@boxoffice/contract/budget_service';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { DescMethod } from '@bufbuild/protobuf';

const TABLE_URL = new URL('../proto/boxoffice/control/v1/errors.json', import.meta.url);

export const SERVICES = [
  RoomService,
  ParticipantService,
  ModerationService,
  TokenService,
  WatchdogService,
  BudgetService,
];

interface Condition {
  /** A field that a method's request must have for the condition to apply. Absent: it applies to every method. */
  readonly with?: string;
  /** For INVALID_ARGUMENT: the field path in the violation. */
  readonly field?: string;
  readonly when: string;
}

/** Conditions with one meaning. Earlier stages are checked first. */
interface Group {
  readonly stage: string;
  readonly code: string;
  readonly reason: string;
  /** Conditions of every method, or of every method whose request has a certain field. */
  readonly common?: Readonly<Record<string, Condition>>;
  /** Conditions of the methods that list them. */
  readonly own?: Readonly<Record<string, Condition>>;
}

/** What a failure is to a program, by its names in the languages of the SDKs. */
export interface Kind {
  /** The name in TypeScript. */
  readonly kind: string;
  readonly go: string;
  readonly rust: string;
  readonly retry: string;
}

/** The kind of a gRPC code. */
interface CodeKind extends Kind {
  readonly code: string;
  /** Applies to this reason only, and takes precedence over the kinds of the code. */
  readonly reason?: string;
}

/** The kind of a status of the REST interface. */
interface StatusKind extends Kind {
  readonly status: number;
}

export interface ErrorTable {
  readonly domain: string;
  /** The longest answer that an SDK reads, so that a faulty proxy cannot fill its memory. */
  readonly answer_bytes_max: number;
  /** The kind that clients map a failure to. The first match wins. */
  readonly kinds: readonly CodeKind[];
  /** The kind that clients map an answer of the REST interface to. Source: specification 7.1. */
  readonly statuses: readonly StatusKind[];
  /** Failures that gRPC itself produces before a method runs. Without a reason there are no details. */
  readonly native: readonly {
    readonly code: string;
    readonly reason?: string;
    readonly when: string;
    readonly retry: string;
  }[];
  /** Failures that any call can have at any time. */
  readonly anytime: readonly { readonly code: string; readonly reason: string; readonly when: string }[];
  readonly conditions: readonly Group[];
  /** The method's own conditions, by `<service>.<method>`. */
  readonly methods: Readonly<Record<string, readonly string[]>>;
}

/** One way for one method to fail. */
export interface Row {
  readonly method: string;
  readonly condition: string;
  readonly code: string;
  readonly reason: string;
  readonly field: string | undefined;
  readonly when: string;
  readonly isCommon: boolean;
  /** Position in the order of evaluation. */
  readonly stage: number;
}

export function readTable(): ErrorTable {
  return JSON.parse(readFileSync(TABLE_URL, 'utf8'));
}

export function nameOf(method: DescMethod): string {
  return `${method.parent.name}.${method.name}`;
}

export function stagesOf(table: ErrorTable): string[] {
  return [...new Set(table.conditions.map((group) => group.stage))];
}

/** Every condition under which `method` fails, in the order of evaluation. */
export function rowsOf(table: ErrorTable, method: DescMethod): Row[] {
  const own = table.methods[nameOf(method)] ?? [];
  const fields = method.input.fields.map((field) => field.name);
  const stages = stagesOf(table);
  return table.conditions.flatMap((group) => {
    const { code, reason } = group;
    const row = (isCommon: boolean) => (entry: [string, Condition]) => {
      const [condition, { field, when }] = entry;
      const stage = stages.indexOf(group.stage);
      return { method: nameOf(method), condition, code, reason, field, when, isCommon, stage };
    };
    const common = Object.entries(group.common ?? {}).filter(
      ([, condition]) => condition.with === undefined || fields.includes(condition.with),
    );
    const named = Object.entries(group.own ?? {}).filter(([name]) => own.includes(name));
    return [...common.map(row(true)), ...named.map(row(false))];
  });
}

/** A reason, the code that it comes with, and what that is to a program. */
export interface Meaning extends Kind {
  readonly reason: string;
  readonly code: string;
}

/** Every reason once, by name. */
export function meaningsOf(table: ErrorTable): Meaning[] {
  const codes = new Map([...table.conditions, ...table.anytime].map(({ code, reason }) => [reason, code]));
  return [...codes]
    .map(([reason, code]) => ({ ...kindOf(table, code, reason), reason, code }))
    .sort((one, two) => (one.reason < two.reason ? -1 : 1));
}

function kindOf(table: ErrorTable, code: string, reason: string): Kind {
  return table.kinds.find((kind) => kind.code === code && (kind.reason ?? reason) === reason)!;
}
