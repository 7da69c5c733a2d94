/** Rules of linearizability, by Porcupine: there is an order of the operations that explains every answer. */
import type { Facts } from '../facts.ts';
import { HISTORIES, type History, type Model } from '../histories.ts';
import { checkHistories, preparePorcupine } from '../porcupine.ts';
import type { Look, Rule } from '../rule.ts';

export const LINEARIZABILITY_RULES: readonly Rule[] = (Object.keys(HISTORIES) as Model[]).map((model) => ({
  name: `histories of ${model} are linearizable`,
  check: (facts, look) => checkModel(model, facts, look),
}));

async function checkModel(model: Model, facts: Facts, look: Look): Promise<void> {
  const obstacle = await preparePorcupine();
  if (obstacle !== undefined) return look.leaveOut(obstacle);
  const histories = await HISTORIES[model](facts);
  for (const [at, { object, result, ops }] of (await checkHistories(model, histories)).entries()) {
    if (result === 'unknown') look.leaveOut(`the search for ${object} took too long, with ${ops} operations`);
    else look.at(ops);
    if (result === 'illegal')
      look.wrong(`no order explains the ${ops} operations of ${object}: ${textOf(histories[at]!)}`);
  }
}

const OPS_TOLD = 12;

/** As `create ok from 1200 to 1350 us`, where the first operation begins at 0. */
function textOf({ ops }: History): string {
  const began = ops[0]?.callUs ?? 0;
  const texts = ops.slice(0, OPS_TOLD).map(({ op, outcome, amount, uid, callUs, returnUs }) => {
    const what = [op, outcome, amount, uid].filter((each) => each !== undefined).join(' ');
    return `${what} from ${callUs - began}${returnUs === null ? '' : ` to ${returnUs - began}`} us`;
  });
  return [...texts, ...(ops.length > OPS_TOLD ? ['...'] : [])].join(', ');
}
