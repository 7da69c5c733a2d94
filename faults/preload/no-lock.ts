/** Loaded by a service for a control: changes of keys do not lock the tenant and the key that they change. */
import pg from 'pg';

const LOCKING: ReadonlySet<unknown> = new Set(['lock-tenant', 'lock-ceiling']);
const LOCK = / for (no key )?update$/;

type Query = (...values: unknown[]) => unknown;
const ask = pg.Client.prototype.query as Query;

pg.Client.prototype.query = function query(this: pg.Client, ...values: unknown[]) {
  const [config] = values as [{ name?: string; text?: string } | undefined];
  if (config?.text !== undefined && LOCKING.has(config.name))
    return ask.call(this, { ...config, text: config.text.trim().replace(LOCK, '') }, ...values.slice(1));
  return ask.apply(this, values);
} as typeof pg.Client.prototype.query;
