/** Properties of a batch that the name of its dataset holds beside the file name. */
export interface DatasetName {
  readonly endpoint: string;
  readonly model: string;
  readonly filename: string;
}

const words: Readonly<Record<string, string>> = { chat: '/v1/chat/completions', embed: '/v1/embeddings' };

/** Returns the word for an endpoint in names of batches and datasets. Empty for an endpoint without batches at this provider. */
export function wordOf(endpoint: unknown): string {
  return Object.keys(words).find((name) => words[name] === endpoint) ?? '';
}

/** Returns the endpoint of the word in a dataset's name. Null for datasets that the gateway did not create. */
export function endpointOfCode(word: string | undefined): string | null {
  return words[word ?? ''] ?? null;
}

/**
 * Returns `svc-<word>.<model as base64url>.<file name>`. A batch of a dataset needs a model, and datasets have no metadata to
 * hold it.
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

/** Returns a name with only the characters that names of datasets may have. */
export function plainName(filename: string): string {
  return filename.replace(/[^\w.-]+/g, '_').slice(-100) || 'file';
}
