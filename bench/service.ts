/** The service as benchmarks run it: a process of its own. */
import { startService } from '../src/service.ts';
import { announce } from './process.ts';
import { log, serviceConfig } from './settings.ts';

const service = await startService(serviceConfig(process.env.DATABASE_URL!), log);
announce(service.port, () => service.stop());
