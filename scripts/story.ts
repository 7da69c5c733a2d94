/** Prints what a demo does: numbered steps, and figures below them. */
let steps = 0;

export function step(title: string): void {
  steps += 1;
  say(`\n${steps}. ${title}`);
}

export function show(name: string, value: string): void {
  say(`    ${name.padEnd(10)} ${value}`);
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
