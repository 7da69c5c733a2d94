/** Devices of participants, for steps. */

/** A thumbprint for each name, in the form of a real one. */
export function thumbprintOf(name: string): string {
  return Buffer.from(name.padEnd(32, '.')).toString('base64url');
}

/** What a participant acts as. */
export function actor(name: string) {
  return { username: name, device_thumbprint: thumbprintOf(name) };
}
