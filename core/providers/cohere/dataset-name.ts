/** Properties of a batch that the name of its dataset holds beside the file name. */
export interface DatasetName {
  readonly endpoint: string;
  readonly model: string;
  readonly filename: string;
}

const words: Readonly<Record<string, string>> = { chat: '/v1/chat/completions', embed: '/v1/embeddings' };

/** The endpoint in names of batches and datasets; empty for one that has no batches here. */
export function wordOf(endpoint: unknown): string {
  return Object.keys(words).find((name) => words[name] === endpoint) ?? '';
}

export function endpointOfCode(word: string | undefined): string | null {
  return words[word ?? ''] ?? null;
}

/**
 * `svc-<word>.<model as base64url>.<file name>`: a dataset keeps no model, and a batch of it needs one. Datasets have no metadata of
 * their own to put it in.
 */
export function datasetName({ endpoint, model, filename }: DatasetName): string {
  return `svc-${wordOf(endpoint)}.${Buffer.from(model).toString('base64url')}.${plainName(filename)}`;
}

/** Reads a dataset name; null for a dataset that the gateway did not create. */
export function readDatasetName(name: unknown): DatasetName | null {
  const [, word = '', model = '', filename = ''] = /^svc-(\w+)\.([\w-]+)\.(.+)$/.exec(typeof name === 'string' ? name : '') ?? [];
  const endpoint = endpointOfCode(word);
  return endpoint === null ? null : { endpoint, model: Buffer.from(model, 'base64url').toString('utf8'), filename };
}

/** A name of few characters, which names of datasets are good with. */
export function plainName(filename: string): string {
  return filename.replace(/[^\w.-]+/g, '_').slice(-100) || 'file';
}
