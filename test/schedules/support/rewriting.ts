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
  readonly #rewrites: readonly Rewrite[];
  /** Connections keep statements by name, so a text of its own has a name of its own. */
  readonly #suffix: string;
  readonly #applied = new Set<Rewrite>();

  constructor(rewrites: readonly Rewrite[] = [], number = 0) {
    this.#rewrites = rewrites;
    this.#suffix = `/${number}`;
  }

  /** Rewrites that no statement was asked for. */
  get unused(): readonly Rewrite[] {
    return this.#rewrites.filter((each) => !this.#applied.has(each));
  }

  apply<S extends string | Statement>(statement: S, actor: number): S {
    if (typeof statement === 'string') return withoutTimeLimits(statement) as S;
    const own = this.#rewrites.filter(
      (each) => each.statement === statement.name && (each.actor ?? actor) === actor,
    );
    const text = own.reduce((before, each) => this.#change(before, each), withoutTimeLimits(statement.text));
    const name = own.length > 0 ? `${statement.name}${this.#suffix}` : statement.name;
    return { ...(statement as Statement), name, text } as S;
  }

  #change(text: string, rewrite: Rewrite): string {
    const { statement, from, to } = rewrite;
    if (text.split(from).length !== 2) throw new Error(`${statement} does not have once: ${from}`);
    this.#applied.add(rewrite);
    // A function, so that `$1` stays as it is.
    return text.replace(from, () => to);
  }
}

function withoutTimeLimits(text: string): string {
  return TIME_LIMITS.reduce((before, [limit, none]) => before.replace(limit, none), text);
}
