/**
 * Generates the documentation of control-plane failures from the table of errors,
 * `proto/boxoffice/control/v1/errors.json`.
 *
 *     node scripts/make-error-docs.ts       docs/control-plane-errors.md
 *                                           sdk/typescript/src/backend/error-reasons.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { DescMethod } from '@bufbuild/protobuf';

const TABLE_URL = new URL('../proto/boxoffice/control/v1/errors.json', import.meta.url);
const DOCS_URL = new URL('../docs/control-plane-errors.md', import.meta.url);
const REASONS_URL = new URL('../sdk/typescript/src/backend/error-reasons.ts', import.meta.url);

export const SERVICES = [RoomService, ParticipantService, ModerationService, TokenService, WatchdogService];

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

interface Kind {
  readonly kind: string;
  readonly go: string;
  readonly rust: string;
  readonly code: string;
  /** Applies to this reason only, and takes precedence over the kinds of the code. */
  readonly reason?: string;
  readonly retry: string;
}

export interface ErrorTable {
  readonly domain: string;
  /** The kind that clients map a failure to. The first match wins. */
  readonly kinds: readonly Kind[];
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

function kindOf(table: ErrorTable, { code, reason }: { code: string; reason: string }): Kind {
  return table.kinds.find((kind) => kind.code === code && (kind.reason ?? reason) === reason)!;
}

const NOTICE =
  'Made from proto/boxoffice/control/v1/errors.json by scripts/make-error-docs.ts; not to be edited.';

/** The text of `docs/control-plane-errors.md`. */
export function makeDocs(table: ErrorTable): string {
  const groups = table.conditions.filter((group) => group.common);
  const common = groups.flatMap((group) =>
    Object.values(group.common!).map(({ when, field, with: needed }) => [
      when,
      needed ? `\`${needed}\`` : 'every',
      group.code,
      group.reason,
      field ? `\`${field}\`` : '',
    ]),
  );
  return `<!-- ${NOTICE} -->

# Errors of the control plane

Every failure carries \`google.rpc.ErrorInfo\` with the domain \`${table.domain}\`, a reason, and the request id.
INVALID_ARGUMENT also carries \`BadRequest\` with the field, FAILED_PRECONDITION \`PreconditionFailure\`, and
UNAVAILABLE \`RetryInfo\`. Programs go by code and reason; messages are for people.

## What clients make of it

The first line that fits. SDKs tell more reasons apart by name.

${markdown(
  ['Code', 'Reason', 'TypeScript', 'Go', 'Rust', 'Retry'],
  table.kinds.map(({ code, reason, kind, go, rust, retry }) => [
    code,
    reason ?? 'any',
    ...[`'${kind}'`, go, rust].map((name) => `\`${name}\``),
    retry,
  ]),
)}
Calls that reach no method end, too; without a reason, it is gRPC itself that answers, and there are no details:

${markdown(
  ['Code', 'Reason', 'When', 'Retry'],
  table.native.map(({ code, reason, when, retry }) => [code, reason ?? '', when, retry]),
)}
## Order

When several things are wrong, the first of these is told:

${stagesOf(table)
  .map((stage, at) => `${at + 1}. ${stage}\n`)
  .join('')}
Only what belongs to the API key's tenant is ever looked up: what is another tenant's does not exist.

## Every method

Conditions of the methods whose requests have the field in the second column.

${markdown(['When', 'Requests with', 'Code', 'Reason', 'Field'], common)}
At any moment:

${markdown(
  ['When', 'Code', 'Reason'],
  table.anytime.map(({ when, code, reason }) => [when, code, reason]),
)}
${SERVICES.flatMap((service) => service.methods)
  .map((method) => methodSection(table, method))
  .join('\n')}`;
}

function methodSection(table: ErrorTable, method: DescMethod): string {
  const rows = rowsOf(table, method).filter((row) => !row.isCommon);
  if (rows.length === 0) return `## ${nameOf(method)}\n\nNothing of its own.\n`;
  const cells = rows.map(({ when, code, reason, field }) => [
    when,
    code,
    reason,
    field ? `\`${field}\`` : '',
  ]);
  return `## ${nameOf(method)}\n\n${markdown(['When', 'Code', 'Reason', 'Field'], cells)}`;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
}

/** The text of `sdk/typescript/src/backend/error-reasons.ts`. */
export function makeReasons(table: ErrorTable): string {
  const meanings = [...table.conditions, ...table.anytime].map(({ code, reason }) => ({ code, reason }));
  const byReason = new Map(meanings.map((meaning) => [meaning.reason, meaning]));
  const entries = [...byReason.values()]
    .sort((one, two) => (one.reason < two.reason ? -1 : 1))
    .map(
      ({ code, reason }) =>
        `  ${reason}: { code: '${code}', kind: '${kindOf(table, { code, reason }).kind}' },`,
    );
  const kinds = [...new Set(table.kinds.map(({ kind }) => kind))].map((kind) => `  | '${kind}'`);
  const codes = table.kinds
    .filter(({ reason }) => reason === undefined)
    .map(({ code, kind }) => `  ${code}: '${kind}',`);
  return `/** Reasons of failures. ${NOTICE} */

/** What a failure is to a program. */
export type ErrorKind =
${kinds.join('\n')};

/** By code, of failures whose reason is not known here. */
export const KINDS = {
${codes.join('\n')}
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** By reason, the code that it comes with. */
export const REASONS = {
${entries.join('\n')}
} as const satisfies Readonly<
  Record<string, { readonly code: keyof typeof KINDS; readonly kind: ErrorKind }>
>;

export type ErrorReason = keyof typeof REASONS;
`;
}

if (import.meta.main) {
  const table = readTable();
  writeFileSync(DOCS_URL, makeDocs(table));
  writeFileSync(REASONS_URL, makeReasons(table));
}
