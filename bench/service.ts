/**
 * The service in a process of its own, for benchmarks. With BENCH_ONE_TRANSACTION_A_REQUEST it never
 * charges two requests together. With BENCH_TRANSACTIONS it has as many under way, as workers have one.
 * BENCH_FILTER_MB is ARCHIVE_FILTER_MB; BENCH_ARCHIVE_AFTER is ARCHIVE_AFTER, in seconds. With BENCH_PORT=grpc it announces the port of the control plane.
 */
import { startService } from '../src/run/service.ts';
import { announce } from './process.ts';
import { log, serviceConfig } from './settings.ts';

const {
  BENCH_ONE_TRANSACTION_A_REQUEST: isSingly,
  BENCH_TRANSACTIONS: transactions,
  BENCH_FILTER_MB: filterMb,
  BENCH_ARCHIVE_AFTER: archiveAfter,
} = process.env;
const chargeLimits = isSingly
  ? { transactions: 16, ofOneKind: 16, aloneMs: 0, records: 1 }
  : transactions
    ? { transactions: Number(transactions) }
    : undefined;
const config = {
  ...serviceConfig(process.env.DATABASE_URL!),
  ...(filterMb && { archiveFilterMb: Number(filterMb) }),
  ...(archiveAfter && { archiveAfterSeconds: Number(archiveAfter) }),
};

const service = await startService(config, log, { chargeLimits });
announce(process.env.BENCH_PORT === 'grpc' ? service.grpcPort : service.port, () => service.stop());
