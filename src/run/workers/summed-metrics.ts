/** The metrics of several processes as those of one. */
import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** As `getMetricsAsJSON()` of a registry gives it. */
export type Reading = readonly MetricObjectWithValues<MetricValue<string>>[];

/** A process that can be asked for its metrics. */
export interface Measured {
  ask(question: 'metrics'): Promise<unknown>;
}

/**
 * Each metric is added up, or otherwise, as it says itself.
 *
 * A sum that fell because a process ended would look like counters that started again from 0, and what
 * is left of it like an increase. So what an ended process had counted when it was last read is kept.
 */
export class SummedMetrics {
  readonly #latest = new Map<Measured, Reading>();
  #ended: Promise<Reading> = Promise.resolve([]);

  /** `processes` are all that live; one that does not answer counts as it did last. */
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
