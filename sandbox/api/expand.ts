/** `expand[]`: identifiers replaced by the objects they name, along paths such as `data.customer`. */
import { invalidRequest } from '../http/errors.ts';
import type { FormValue } from '../http/form.ts';
import { list, text } from '../http/params.ts';
import type { Provider } from '../provider.ts';
import { renderById, renderIncluded } from './render.ts';

type Json = Record<string, unknown>;

const DEPTH_MAX = 4;

/** The fields that can be expanded, by object. */
const EXPANDABLE: Record<string, readonly string[]> = {
  balance_transaction: ['source'],
  charge: ['balance_transaction', 'customer', 'payment_intent', 'refunds'],
  'checkout.session': ['customer', 'invoice', 'line_items', 'payment_intent'],
  customer: ['invoice_settings'],
  dispute: ['charge', 'payment_intent'],
  invoice: ['customer'],
  invoice_settings: ['default_payment_method'],
  payment_intent: ['customer', 'latest_charge', 'payment_method'],
  payment_method: ['customer'],
  payout: ['balance_transaction'],
  'radar.early_fraud_warning': ['charge', 'payment_intent'],
  refund: ['balance_transaction', 'charge', 'failure_balance_transaction', 'payment_intent'],
};

export function readExpand(value: FormValue | undefined): string[] {
  return value === undefined ? [] : list(text({ max: 200 }))(value, 'expand');
}

/** A copy of `answer` with each path expanded. Throws a 400 for a path that cannot be expanded. */
export function expandAll(provider: Provider, answer: object, paths: readonly string[]): object {
  return paths.reduce<object>((current, path) => {
    const steps = path.split('.');
    if (steps.length > DEPTH_MAX) throw cannotExpand(path);
    const node = current as Json;
    return expandPath(provider, node, String(node.object), steps, path);
  }, answer);
}

/** `kind` is the `object` field, or the name of the field for a nested object without one. */
function expandPath(provider: Provider, node: Json, kind: string, steps: string[], path: string): Json {
  const [name, ...rest] = steps;
  if (name === undefined) return node;
  const value = node[name];
  if (kind === 'list' && Array.isArray(value)) {
    const expand = (item: Json) => expandPath(provider, item, String(item.object), rest, path);
    return { ...node, [name]: value.map(expand) };
  }
  if (!EXPANDABLE[kind]?.includes(name)) throw cannotExpand(path);
  const found =
    typeof value === 'string'
      ? renderById(provider, value)
      : (value ?? renderIncluded(provider, String(node.id), name));
  if (found === undefined || found === null) return node;
  const child = found as Json;
  return { ...node, [name]: expandPath(provider, child, String(child.object ?? name), rest, path) };
}

function cannotExpand(path: string) {
  return invalidRequest(`This property cannot be expanded (${path}).`, { param: 'expand' });
}
