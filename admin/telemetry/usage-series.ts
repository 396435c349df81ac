import { isCounted, type RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { Labels, Sample } from '../../core/telemetry/histogram.ts';
import type { NewRecord } from '../define-resource.ts';

interface Series {
  readonly labels: Labels;
  requests: number;
  input: number;
  output: number;
  /** Whole nano-USD. */
  cost: number;
}

/** Names of API keys by their id. */
export type KeyNames = ReadonlyMap<string, string>;

type Reader = (record: RequestRecord, names: KeyNames) => string | null | undefined;

/** Values of the labels that METRICS_LABELS can name, besides metadata. */
const readers: Readonly<Record<string, Reader>> = {
  model: (record) => record.model,
  workspace: (record) => record.workspaceId,
  key: (record) => record.apiKeyId,
  key_name: ({ apiKeyId }, names) => (apiKeyId === null ? null : (names.get(apiKeyId) ?? apiKeyId)),
  config: (record) => record.configSlug,
};

const metadataPrefix = 'metadata.';
const valueCharsMax = 100;

/**
 * Requests, LLM tokens and cost of stored records, by provider and the labels of METRICS_LABELS. Callers choose some of these values, so
 * the number of series is limited. Further combinations count with the value `other` in each label.
 */
export class UsageSeries {
  readonly #names: readonly string[];
  readonly #readers: readonly Reader[];
  readonly #seriesMax: number;
  readonly #series = new Map<string, Series>();

  constructor(labels: readonly string[], seriesMax: number) {
    const unique = [...new Set(labels)];
    this.#names = ['provider', ...unique.map((label) => label.replace(metadataPrefix, 'metadata_'))];
    this.#readers = [(record) => record.provider, ...unique.map(readerOf)];
    this.#seriesMax = seriesMax;
  }

  /** Counts records. `names` are needed for the label `key_name` only; a key without a name counts under its id. */
  observe(rows: readonly NewRecord[], names: KeyNames = noNames): void {
    for (const { record, cost, before } of rows) {
      if (!isCounted(record)) continue;
      const series = this.#of(record, names);
      // A later record of a session counts the difference only. Counters never shrink.
      if (!before) series.requests += 1;
      series.input += Math.max(0, inputOf(record) - (before ? inputOf(before.record) : 0));
      series.output += Math.max(0, record.outputTokens - (before?.record.outputTokens ?? 0));
      series.cost += Math.max(0, (cost ?? 0) - (before?.cost ?? 0));
    }
  }

  requests(): Sample[] {
    return this.#samples(({ requests, labels }) => [{ value: requests, labels }]);
  }

  tokens(): Sample[] {
    return this.#samples(({ input, output, labels }) => [
      { value: input, labels: { ...labels, type: 'input' } },
      { value: output, labels: { ...labels, type: 'output' } },
    ]);
  }

  cost(): Sample[] {
    return this.#samples(({ cost, labels }) => [{ value: cost / 1e9, labels }]);
  }

  #samples(read: (series: Series) => Sample[]): Sample[] {
    return [...this.#series.values()].flatMap(read);
  }

  #of(record: RequestRecord, names: KeyNames): Series {
    const values = this.#readers.map((read) => (read(record, names) ?? 'none').slice(0, valueCharsMax));
    const known = this.#series.get(JSON.stringify(values));
    if (known) return known;
    return this.#add(this.#series.size < this.#seriesMax - 1 ? values : values.map(() => 'other'));
  }

  #add(values: readonly string[]): Series {
    const key = JSON.stringify(values);
    const known = this.#series.get(key);
    if (known) return known;
    const labels = Object.fromEntries(this.#names.map((name, index) => [name, values[index] as string]));
    const series: Series = { labels, requests: 0, input: 0, output: 0, cost: 0 };
    this.#series.set(key, series);
    return series;
  }
}

const noNames: KeyNames = new Map();

function readerOf(label: string): Reader {
  if (!label.startsWith(metadataPrefix)) return readers[label] as Reader;
  const name = label.slice(metadataPrefix.length);
  return ({ metadata }) => (Object.hasOwn(metadata, name) ? metadata[name] : null);
}

function inputOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: RequestRecord): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}
