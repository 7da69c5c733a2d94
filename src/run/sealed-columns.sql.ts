/** Every column whose values are sealed with SECRETS_KEY, and SQL that reads and replaces them. */
import { formContext } from '../access/sessions/keep-form.ts';
import { resultsOf, type Statement } from '../base/db/pipeline.ts';
import type { Db, Tx } from '../base/db/pool.ts';
import { contextOf as answerContext } from '../base/idempotency/once.ts';
import { linkContext } from '../outward/mail/console-mail-rows.ts';
import { headersContext } from '../outward/webhooks/sealed-headers.ts';
import { secretContext } from '../outward/webhooks/send-message.ts';

// biome-ignore lint/suspicious/noExplicitAny: each table has rows of its own shape
type Row = Readonly<Record<string, any>>;

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key of the table. */
  readonly key: readonly string[];
  /** Further columns that `contextOf()` needs. */
  readonly further?: readonly string[];
  /** What a value was sealed for. */
  contextOf(row: Row): string;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'signing_keys', column: 'private_key', key: ['kid'], contextOf: ({ kid }) => kid },
  {
    table: 'webhook_secrets',
    column: 'sealed',
    key: ['tenant_id', 'webhook_id', 'number'],
    contextOf: ({ tenant_id: tenant, webhook_id: webhook, number }) => secretContext(tenant, webhook, number),
  },
  {
    table: 'webhook_endpoints',
    column: 'sealed_headers',
    key: ['tenant_id', 'id'],
    contextOf: ({ tenant_id: tenant, id }) => headersContext({ tenant, id }),
  },
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: ['tenant_id', 'key'],
    contextOf: ({ tenant_id: tenant, key }) => answerContext({ tenant, key }),
  },
  { table: 'mails', column: 'sealed', key: ['id'], contextOf: ({ id }) => linkContext(id) },
  {
    table: 'kept_forms',
    column: 'sealed',
    key: ['hash'],
    further: ['tenant_id', 'owner', 'path'],
    contextOf: ({ hash, tenant_id: tenant, owner, path }) => formContext({ hash, tenant, owner, path }),
  },
];

export interface SealedRow extends Row {
  readonly sealed_value: Buffer;
}

/** The next rows after one, in the order of their keys. */
export async function findSealedRows(
  db: Db,
  { table, column, key, further = [] }: SealedColumn,
  after: Row | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const places = key.map((_, at) => `$${at + 2}`);
  const { rows } = await db.query<SealedRow>({
    text: `select ${[...key, ...further].join(', ')}, ${column} as sealed_value from ${table}
            where ${column} is not null ${after ? `and (${key.join(', ')}) > (${places.join(', ')})` : ''}
            order by ${key.join(', ')} limit $1`,
    values: [limit, ...(after ? key.map((name) => after[name]) : [])],
  });
  return rows;
}

/** Replace the values that are still the same. Returns how many were. */
export async function replaceSealed(
  tx: Tx,
  { table, column, key }: SealedColumn,
  rows: readonly { readonly row: SealedRow; readonly sealed: Buffer }[],
): Promise<number> {
  const same = key.map((name, at) => `${name} = $${at + 3}`).join(' and ');
  const results = await resultsOf(
    tx,
    rows.map(
      ({ row, sealed }): Statement => ({
        name: '',
        text: `update ${table} set ${column} = $1 where ${column} = $2 and ${same} returning 1`,
        values: [sealed, row.sealed_value, ...key.map((name) => row[name])],
      }),
    ),
  );
  return results.reduce((sum, result) => sum + result.rows.length, 0);
}
