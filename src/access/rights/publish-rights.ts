/** The publish rights, which device credentials grant and moderators revoke. */

export const PUBLISH_RIGHTS = ['audio', 'video', 'screen', 'data'] as const;
export type PublishRight = (typeof PUBLISH_RIGHTS)[number];
