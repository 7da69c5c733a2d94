/** Rules of linearizability, by Porcupine: there is an order of the operations that explains every answer. */
import type { Facts } from '../facts.ts';
import { HISTORIES, type Model } from '../histories.ts';
import { buildPorcupine, checkHistories, hasPorcupine } from '../porcupine.ts';
import type { Look, Rule } from '../rule.ts';

export const LINEARIZABILITY_RULES: readonly Rule[] = (Object.keys(HISTORIES) as Model[]).map((model) => ({
  name: `histories of ${model} are linearizable`,
  check: (facts, look) => checkModel(model, facts, look),
}));

/** Without Go, they look at nothing. A search that takes too long has looked at nothing, either. */
async function checkModel(model: Model, facts: Facts, look: Look): Promise<void> {
  if (!hasPorcupine()) return;
  await buildPorcupine();
  for (const { object, result, ops } of await checkHistories(model, await HISTORIES[model](facts))) {
    if (result !== 'unknown') look.at(ops);
    if (result === 'illegal') look.wrong(`no order explains the ${ops} operations of ${object}`);
  }
}
