/** `npm run admin -- ...`: the operator's command line. */
import { runAdmin } from './run.ts';

process.exitCode = await runAdmin(process.argv.slice(2));
