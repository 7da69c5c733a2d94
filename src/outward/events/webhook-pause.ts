export const WEBHOOK_EVENTS = {
  webhook_paused: 'A webhook was paused, because its deliveries failed.',
} as const;

/** The subject of `webhook_paused`. The address may hold a secret of its receiver, so only its host is told. */
export interface WebhookPause {
  readonly webhookId: string;
  readonly host: string;
  readonly description: string | null;
  readonly reason: 'failing' | 'gone';
  /** The number of the event that could not be delivered, and of the attempts. */
  readonly seq: number;
  readonly attempts: number;
  /** What the last attempt came to: the status of the answer, or why there was none. */
  readonly status: number | null;
  readonly error: string | null;
}
