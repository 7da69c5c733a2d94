/** Combines the metrics of several processes. */
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** The result of a registry's `getMetricsAsJSON()`. */
export type Reading = readonly MetricObjectWithValues<MetricValue<string>>[];

/** A process that can be asked for its metrics. */
export interface Measured {
  ask(question: 'metrics'): Promise<unknown>;
}

/**
 * Each metric is aggregated by its own aggregator, by default a sum.
 *
 * A sum that falls because a process ended would look like a counter reset, and the rest of it like an
 * increase. So the counters of an ended process are kept as they were last read.
 */
export class SummedMetrics {
  readonly #latest = new Map<Measured, Reading>();
  #ended: Promise<Reading> = Promise.resolve([]);

  /** `processes` are those alive. One that does not answer counts with its last values. */
  async read(processes: readonly Measured[]): Promise<Registry> {
    await Promise.all(processes.map((each) => this.#readOne(each)));
    for (const [each, reading] of this.#latest) {
      if (processes.includes(each)) continue;
      this.#latest.delete(each);
      this.#ended = this.#ended.then((ended) => keepCounted([ended, reading]));
    }
    const ended = await this.#ended;
    return sum([...this.#latest.values(), ended]);
  }

  async #readOne(process: Measured): Promise<void> {
    const reading = await process.ask('metrics').catch(() => undefined);
    if (reading !== undefined) this.#latest.set(process, reading as Reading);
  }
}

function keepCounted(readings: readonly Reading[]): Promise<Reading> {
  const isCounted = ({ type }: { readonly type: unknown }) => type === 'counter' || type === 'histogram';
  return sum(readings.map((each) => each.filter(isCounted))).getMetricsAsJSON();
}

function sum(readings: readonly Reading[]): Registry {
  return AggregatorRegistry.aggregate([...readings]);
}
