/** What lets anyone besides a founder use or watch a tenant. */
export const ACCESS_KINDS = ['key', 'device', 'agent', 'webhook', 'member'] as const;
export type AccessKind = (typeof ACCESS_KINDS)[number];

export interface NamedAccess {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}
