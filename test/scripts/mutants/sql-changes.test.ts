import { describe, expect, it } from 'vitest';
import { applyChange } from '../../../scripts/mutants/mutant.ts';
import { findSqlChanges } from '../../../scripts/mutants/sql-changes.ts';

/** What the mutations of one kind make of the text. */
function changed(kind: string, sql: string, interpolation?: string): string[] {
  const start = sql.indexOf(interpolation ?? '');
  const interpolations = interpolation === undefined ? [] : [{ start, end: start + interpolation.length }];
  return findSqlChanges(sql, interpolations)
    .filter((change) => change.kind === kind)
    .map((change) => applyChange(sql, change));
}

describe('in SQL', () => {
  it.each([
    ['and/or', 'a and b or c', ['a or b or c', 'a and b and c']],
    ['comparison', 'where a < $1', ['where a <= $1']],
    ['comparison', 'where a >= $1', ['where a > $1']],
    ['comparison', 'where a <> $1', ['where a = $1']],
    ['comparison', 'a is distinct from b', ['a is not distinct from b']],
    ['null', 'a is not null', ['a is null']],
    ['null', 'a is null', ['a is not null']],
    ['not removed', 'where not final', ['where final']],
    ['not removed', 'not exists (select)', ['exists (select)']],
    ['greatest/least', 'greatest(a, b)', ['least(a, b)']],
    ['greatest removed', 'greatest(a, f(b, c))', ['a', 'f(b, c)']],
    ['coalesce removed', `coalesce(sum(a), 'none')`, ['sum(a)', `'none'`]],
    ['order', 'order by a desc', ['order by a asc']],
    ['arithmetic', 'a + b', ['a - b']],
    ['truth', 'on true', ['on false']],
    ['off by one', 'limit 9 offset $2', ['limit 10 offset $2']],
    ['lock removed', 'select a for update', ['select a ']],
    ['lock removed', 'select a for no key update of b skip locked', ['select a ']],
    ['lock waited for', 'select a for update skip locked', ['select a for update ']],
  ])('%s: %s', (kind, sql, expected) => {
    expect(changed(kind, sql)).toStrictEqual(expected);
  });

  it('an equal sign compares in a condition, and assigns after set', () => {
    const sql = 'update t set a = $1, b = case when c = 2 then 3 end where d = $2 and f(secs => 1)';
    expect(changed('comparison', sql)).toStrictEqual([
      sql.replace('c = 2', 'c <> 2'),
      sql.replace('d = $2', 'd <> $2'),
    ]);
  });

  it('each condition is removed alone, with everything in its parentheses', () => {
    const sql = `where a = 1 and (b or c in (select d from e where f)) and g is distinct from h
                   order by a`;
    expect(changed('condition removed', sql)).toStrictEqual([
      sql.replace('a = 1', 'true'),
      sql.replace('(b or c in (select d from e where f))', 'true'),
      sql.replace('c in (select d from e where f)', 'false'),
      sql.replace('where f', 'where true'),
      sql.replace('g is distinct from h', 'true'),
    ]);
  });

  it('a case expression is one operand', () => {
    const sql = 'where case when a then b else c end and d';
    expect(changed('condition removed', sql)).toContain('where true and d');
  });

  it('quotes, comments, interpolations, arrows and the `and` of `between` stay', () => {
    const sql = `select '1 and 2', "a or b", x->>'y', {and} -- not 3 < 4
                  from t where a between b and c`;
    expect(findSqlChanges(sql, [{ start: sql.indexOf('{'), end: sql.indexOf('}') + 1 }])).toStrictEqual([
      expect.objectContaining({ kind: 'condition removed' }),
    ]);
  });

  it('keeps quotes and interpolations in what remains of a call', () => {
    expect(changed('least removed', `least({now}, 'infinity')`, '{now}')).toStrictEqual([
      '{now}',
      `'infinity'`,
    ]);
  });
});
