/**
 * Statements whose conditions depend on the request.
 *
 * PostgreSQL keeps one plan for the name of a statement. The plan of `$2 is null or name = $2` must serve both
 * cases, so it cannot look the name up. Here each combination of conditions has a name and a plan of its own.
 */

/** SQL with a `?` for each of its values, or nothing if the request does not ask for it. */
export type Condition = readonly [sql: string, ...values: unknown[]] | undefined | null | false | '';

export interface Filtered {
  readonly name: string;
  /** ` and ...` for each condition. */
  readonly where: string;
  readonly values: unknown[];
}

/** `values` are those of the rest of the statement: `$1` and so on. */
export function filtered(
  name: string,
  values: readonly unknown[],
  conditions: Readonly<Record<string, Condition>>,
): Filtered {
  const asked = Object.entries(conditions).flatMap(([key, condition]) =>
    condition ? [{ key, condition }] : [],
  );
  const all = [...values];
  const where = asked.map(({ condition: [sql, ...given] }) => {
    const places = given.values();
    return ` and ${sql.replaceAll('?', () => `$${all.push(places.next().value)}`)}`;
  });
  return { name: [name, ...asked.map(({ key }) => key)].join('-'), where: where.join(''), values: all };
}
