/** What a process that a test starts has to know of the machine; everything else is the test's to say. */
const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;

export const MACHINE = { PATH, HOME, NODE_COMPILE_CACHE };
