/** Mutations of TypeScript, and of the SQL in it. */
import { parseAst } from 'vitest/node';
import type { Change } from './mutant.ts';
import { findSqlChanges } from './sql-changes.ts';

/** A node of the syntax tree, in ESTree's terms. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const SWAPPED_OPERATORS = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['&&', '||'],
  ['||', '&&'],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
  ['+=', '-='],
  ['-=', '+='],
]);

const SWAPPED_METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['some', 'every'],
  ['every', 'some'],
]);

/** Assertions and logging. A test cannot see a change to them. */
const UNSEEN_CALL = /^(assert|[\w.]*\blog\.\w+)\(/;

/** Type syntax that contains expressions. All other type syntax has no code that runs. */
const RUNNING_TYPES = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'];

export function parseTypeScript(text: string): Node {
  return parseAst(text, { lang: 'ts' }) as unknown as Node;
}

/** Every mutation of a file, in order of position. */
export function findChanges(file: string, text: string): Change[] {
  const changes = new Map<string, Change>();
  for (const node of running(parseTypeScript(text))) {
    for (const change of changesOf(file, text, node)) {
      if (text.slice(change.start, change.end) === change.replacement) continue;
      changes.set(`${change.start}-${change.end}-${change.replacement}`, change);
    }
  }
  return [...changes.values()].sort((one, other) => one.start - other.start || one.end - other.end);
}

/** A node and its descendants, without imports, types and property names. */
function* running(node: Node): Generator<Node> {
  if (node.type === 'ImportDeclaration') return;
  if (node.type.startsWith('TS') && !RUNNING_TYPES.includes(node.type)) return;
  yield node;
  for (const child of childrenOf(node)) yield* running(child);
}

export function childrenOf(node: Node): Node[] {
  return Object.entries(node)
    .filter(([field]) => field !== 'key' || node.computed === true)
    .flatMap(([, value]) => value)
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string');
}

function* changesOf(file: string, text: string, node: Node): Generator<Change> {
  const source = (part: unknown) => text.slice((part as Node).start, (part as Node).end);
  const change = (kind: string, part: unknown, replacement: string): Change => {
    const { start, end } = part as Node;
    return { start, end, replacement, kind };
  };
  switch (node.type) {
    case 'LogicalExpression':
    case 'BinaryExpression':
    case 'AssignmentExpression': {
      const { left, right, operator } = node as Node & { left: Node; right: Node; operator: string };
      const swapped = SWAPPED_OPERATORS.get(operator);
      if (swapped === undefined || isText(left) || isText(right)) return;
      const start = text.indexOf(operator, left.end);
      yield { start, end: start + operator.length, replacement: swapped, kind: 'operator' };
      if (node.type !== 'LogicalExpression') return;
      yield change('condition removed', node, source(left));
      yield change('condition removed', node, source(right));
      return;
    }
    case 'UnaryExpression':
      if (node.operator === '!') yield change('negation removed', node, source(node.argument));
      if (node.operator === '-') yield change('sign removed', node, source(node.argument));
      return;
    case 'IfStatement': {
      const { test, consequent } = node as Node & { test: Node; consequent: Node };
      if (leaves(consequent)) yield change('early exit removed', test, 'false');
      else if (!isTurnedElsewhere(test)) yield change('condition negated', test, `!(${source(test)})`);
      return;
    }
    case 'ConditionalExpression':
      if (isTurnedElsewhere(node.test as Node)) return;
      yield change('condition negated', node.test, `!(${source(node.test)})`);
      return;
    case 'ExpressionStatement': {
      const call = source(node).replace(/^(await|void) /, '');
      if (isCall(node.expression as Node) && !UNSEEN_CALL.test(call)) yield change('call removed', node, ';');
      return;
    }
    case 'CallExpression': {
      const { property } = node.callee as Node;
      const swapped = property ? SWAPPED_METHODS.get(source(property)) : undefined;
      if (swapped) yield change('method', property, swapped);
      return;
    }
    case 'Literal':
      if (typeof node.value === 'boolean') yield change('truth', node, `${!node.value}`);
      if (typeof node.value === 'bigint') yield change('off by one', node, `${node.value + 1n}n`);
      if (Number.isSafeInteger(node.value)) yield change('off by one', node, `${Number(node.value) + 1}`);
      if (typeof node.value === 'string') yield* changesOfSql(file, text, node);
      return;
    case 'TemplateLiteral':
      yield* changesOfSql(file, text, node);
  }
}

function changesOfSql(file: string, text: string, node: Node): Change[] {
  const offset = node.start + 1;
  const sql = text.slice(offset, node.end - 1);
  if (!isSql(file, sql)) return [];
  const interpolations = ((node.expressions ?? []) as Node[]).map(({ start, end }) => ({
    start: text.lastIndexOf('${', start) - offset,
    end: text.indexOf('}', end) + 1 - offset,
  }));
  return findSqlChanges(sql, interpolations).map((change) => ({
    ...change,
    start: change.start + offset,
    end: change.end + offset,
  }));
}

/** Files of SQL hold fragments. Elsewhere, SQL starts like a statement. */
function isSql(file: string, text: string): boolean {
  if (file.endsWith('.sql.ts')) return /\s/.test(text);
  return /^\s*(with|select|insert|update|delete)\s/.test(text);
}

/** Whether an operator mutation already negates the expression. */
function isTurnedElsewhere({ operator }: Node): boolean {
  return operator === '!' || operator === '===' || operator === '!==';
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

function isCall(node: Node): boolean {
  if (node.type === 'AwaitExpression' || node.type === 'UnaryExpression')
    return isCall(node.argument as Node);
  return node.type === 'CallExpression';
}

/** Whether this statement ends the control flow of its block. */
function leaves(node: Node): boolean {
  if (node.type === 'BlockStatement') {
    const body = node.body as Node[];
    return body.length > 0 && leaves(body.at(-1)!);
  }
  return ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'].includes(node.type);
}
