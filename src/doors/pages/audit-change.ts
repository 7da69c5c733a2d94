/** What an entry of the audit trail changed, as both consoles show it. */
import { type Html, html } from '@boxoffice/pages/html';
import type { AuditEntry } from '../../base/audit/audit-entry.ts';
import { exact, named } from './components.ts';

const VALUE_LENGTH_MAX = 300;
const MICROS = /_micros$/;

/** Of each field, what it was and what it is. What is nothing on one side is left out there. */
export function renderChange({ before, after }: Pick<AuditEntry, 'before' | 'after'>): Html {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return html`<div class="changes">${names.map((name) => {
    const [was, is] = [fieldOf(before, name), fieldOf(after, name)];
    return html`<div>${named(name.replace(MICROS, '').replaceAll('_', ' '))}: ${
      was !== null && html`<del>${shown(name, was)}</del> `
    }${is !== null ? html`<ins>${shown(name, is)}</ins>` : (was === null || after) && html`<ins>none</ins>`}</div>`;
  })}</div>`;
}

function fieldOf(fields: AuditEntry['before'], name: string): unknown {
  return fields?.[name] ?? null;
}

function shown(name: string, value: unknown): Html {
  if (MICROS.test(name) && typeof value === 'number') return html`${exact(BigInt(value))}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return named(text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…` : text);
}
