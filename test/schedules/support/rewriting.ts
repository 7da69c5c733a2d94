/** Other SQL in the place of that of the product: how a rule is taken away from it. */
import type { Statement } from '../../../src/base/db/pipeline.ts';

/** The part of one statement that keeps a rule. */
export interface Rewrite {
  /** The name of the statement. */
  readonly statement: string;
  /** The index of the actor whose statements are meant. Absent: those of all. */
  readonly actor?: number;
  readonly from: string;
  readonly to: string;
}

/** Time must decide nothing, so that the order of the steps does. */
const TIME_LIMITS: readonly (readonly [RegExp, string])[] = [
  [/set_config\('lock_timeout', '\d+', true\)/g, `set_config('lock_timeout', '0', true)`],
  [/set_config\('lock_timeout', (\$\d+), true\)/g, `set_config('lock_timeout', left($1, 0) || '0', true)`],
  [/lock_timeout = \d+/g, 'lock_timeout = 0'],
];

export class Rewriting {
  readonly #rewrite: Rewrite | undefined;
  /** Connections keep statements by name, so a text of its own has a name of its own. */
  readonly #suffix: string;
  #isUsed = false;

  constructor(rewrite?: Rewrite, number = 0) {
    this.#rewrite = rewrite;
    this.#suffix = `/${number}`;
  }

  /** Whether no statement was rewritten, although some should have been. */
  get isUnused(): boolean {
    return this.#rewrite !== undefined && !this.#isUsed;
  }

  apply<S extends string | Statement>(statement: S, actor: number): S {
    if (typeof statement === 'string') return withoutTimeLimits(statement) as S;
    const { name } = statement;
    const text = withoutTimeLimits(statement.text);
    const own = this.#rewrite;
    if (!own || own.statement !== name || (own.actor ?? actor) !== actor)
      return { ...(statement as Statement), text } as S;
    if (text.split(own.from).length !== 2) throw new Error(`${name} does not have once: ${own.from}`);
    this.#isUsed = true;
    // A function, so that `$1` stays as it is.
    const rewritten = text.replace(own.from, () => own.to);
    return { ...(statement as Statement), name: `${name}${this.#suffix}`, text: rewritten } as S;
  }
}

function withoutTimeLimits(text: string): string {
  return TIME_LIMITS.reduce((before, [limit, none]) => before.replace(limit, none), text);
}
