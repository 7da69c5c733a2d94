/** Rules of linearizability, by Porcupine: there is an order of the operations that explains every answer. */
import type { Facts } from '../facts.ts';
import { HISTORIES, type Model } from '../histories.ts';
import { checkHistories, preparePorcupine } from '../porcupine.ts';
import type { Look, Rule } from '../rule.ts';

export const LINEARIZABILITY_RULES: readonly Rule[] = (Object.keys(HISTORIES) as Model[]).map((model) => ({
  name: `histories of ${model} are linearizable`,
  check: (facts, look) => checkModel(model, facts, look),
}));

async function checkModel(model: Model, facts: Facts, look: Look): Promise<void> {
  const obstacle = await preparePorcupine();
  if (obstacle !== undefined) return look.leaveOut(obstacle);
  for (const { object, result, ops } of await checkHistories(model, await HISTORIES[model](facts))) {
    if (result === 'unknown') look.leaveOut(`the search for ${object} took too long, with ${ops} operations`);
    else look.at(ops);
    if (result === 'illegal') look.wrong(`no order explains the ${ops} operations of ${object}`);
  }
}
