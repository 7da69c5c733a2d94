/** The rights to publish: what a device credential grants and a moderator takes. */

export const PUBLISH_RIGHTS = ['audio', 'video', 'screen', 'data'] as const;
export type PublishRight = (typeof PUBLISH_RIGHTS)[number];
