/** Loaded by a service before anything else: its clock is wrong by the milliseconds that stand in the file FAULTS_CLOCK. */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 100;

const file = process.env.FAULTS_CLOCK!;
const RealDate = Date;
let shiftMs = 0;

const now = () => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, asked) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, asked),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

setInterval(() => {
  try {
    shiftMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // The campaign has ended.
  }
}, LOOK_EVERY_MS).unref();
