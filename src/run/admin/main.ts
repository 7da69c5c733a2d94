/** `npm run admin -- ...`: the operator's command line. */
import { codeOf } from '../../base/lib/error-code.ts';
import { runAdmin } from './run.ts';

// A reader such as `head` may leave before all is printed. What the command changes is done all the same.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

process.exitCode = await runAdmin(process.argv.slice(2));
