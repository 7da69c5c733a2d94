import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TenantLimit } from '../../src/base/tenants/limits.ts';
import { LIMIT_NAMES, TENANT_LIMITS } from '../../src/doors/tenant-limits.ts';

test('what a tenant that never paid may create is a tenth', () => {
  const created = [
    'api_keys',
    'device_credentials',
    'rooms',
    'room_watchdogs',
    'watchdogs',
    'bans',
    'budgets',
  ];
  const limits = TENANT_LIMITS.filter(({ name }) => created.includes(name));
  expect(limits).toHaveLength(created.length);
  for (const { pending, active } of limits) expect(pending).toBe(active / 10);
});

test('the list has every limit that a feature declares', () => {
  const root = new URL('../../', import.meta.url);
  const declared = globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    return [...text.matchAll(/name: '(\w+)',[^}]*\} as const satisfies TenantLimit;/g)].map(
      ([, name]) => name,
    );
  });
  expect(declared.toSorted()).toEqual(LIMIT_NAMES.toSorted());
});

test('a name is of one limit', () => {
  expect(new Set(LIMIT_NAMES).size).toBe(TENANT_LIMITS.length);
});

describe('docs/limits.md', () => {
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');

  test('lists every limit as it is', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` +\| +([\d,]+) +\| +([\d,]+) +\| ([^|]+?) +\|/gm)];
    const number = (text: string | undefined) => Number(text!.replaceAll(',', ''));
    const withoutLinks = (text: string) => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
    const listed = rows.map(([, name, pending, active, unit]) => ({
      name: name!,
      pending: number(pending),
      active: number(active),
      unit: withoutLinks(unit!),
    }));
    const byName = (limits: readonly TenantLimit[]) => limits.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(byName(listed)).toStrictEqual(byName(TENANT_LIMITS));
  });
});
