/** The environment variables of the machine that a child process needs. Tests add their own. */
const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;

export const MACHINE = { PATH, HOME, NODE_COMPILE_CACHE };
