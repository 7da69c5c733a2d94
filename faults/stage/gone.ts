/** What ends a campaign before its time. */

/** A server does not start any more, although everything is mended. The campaign has found something. */
export class Gone extends Error {}

/** This machine lacks what was asked for. The message says in one line what it is. */
export class Missing extends Error {}
