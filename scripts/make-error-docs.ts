/**
 * Generates the documentation of control-plane failures from the table of errors.
 *
 *     node scripts/make-error-docs.ts       docs/control-plane-errors.md
 */
import { writeFileSync } from 'node:fs';
import type { DescMethod } from '@bufbuild/protobuf';
import { type ErrorTable, type Kind, nameOf, readTable, rowsOf, SERVICES, stagesOf } from './error-table.ts';
import { markdownTable } from './markdown.ts';

const DOCS_URL = new URL('../docs/control-plane-errors.md', import.meta.url);

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

For authors of back ends and of clients. Every failure carries \`google.rpc.ErrorInfo\` with the domain \`${table.domain}\`, a reason, and the request id.
INVALID_ARGUMENT also carries \`BadRequest\` with the field, FAILED_PRECONDITION \`PreconditionFailure\`, and
UNAVAILABLE \`RetryInfo\`. Programs go by code and reason; messages are for people.

## What clients make of it

The first line that fits. SDKs tell more reasons apart by name.

${markdownTable(
  ['Code', 'Reason', 'TypeScript', 'Go', 'Rust', 'Python', 'Retry'],
  table.kinds.map(({ code, reason, ...kind }) => [code, reason ?? 'any', ...namesOf(kind), kind.retry]),
)}
The REST interface is mapped to the same kinds, by status:

${markdownTable(
  ['Status', 'TypeScript', 'Go', 'Rust', 'Python', 'Retry'],
  table.statuses.map(({ status, ...kind }) => [`${status}`, ...namesOf(kind), kind.retry]),
)}
Calls that reach no method end, too; without a reason, it is gRPC itself that answers, and there are no details:

${markdownTable(
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

${markdownTable(['When', 'Requests with', 'Code', 'Reason', 'Field'], common)}
At any moment:

${markdownTable(
  ['When', 'Code', 'Reason'],
  table.anytime.map(({ when, code, reason }) => [when, code, reason]),
)}
${SERVICES.flatMap((service) => service.methods)
  .map((method) => methodSection(table, method))
  .join('\n')}
Next: [Events](events.md).
`;
}

/** In the order of the SDKs. */
function namesOf({ kind, go, rust }: Kind): string[] {
  return [`'${kind}'`, go, rust, kind].map((name) => `\`${name}\``);
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
  return `## ${nameOf(method)}\n\n${markdownTable(['When', 'Code', 'Reason', 'Field'], cells)}`;
}

if (import.meta.main) writeFileSync(DOCS_URL, makeDocs(readTable()));
