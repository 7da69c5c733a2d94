/** A connection through a pooler in transaction mode, which may run each transaction in another session of PostgreSQL. */
import pg from 'pg';

/** Several statements in one, such as a `Pipeline`. */
interface Several {
  unnamed(): pg.Submittable;
}

/**
 * Statements lose their names. What one session has prepared is unknown to the next, so each statement is
 * planned for each call.
 */
export class PooledClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has a type for each way to call it
  override query(statement: any, ...rest: readonly any[]): any {
    const query = super.query as (...given: readonly unknown[]) => unknown;
    return query.call(this, unnamed(statement), ...rest);
  }
}

function unnamed(statement: string | Several | pg.QueryConfig): unknown {
  if (typeof statement === 'string') return statement;
  return 'unnamed' in statement ? statement.unnamed() : { ...statement, name: undefined };
}
