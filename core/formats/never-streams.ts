import type { Operation } from '../contract/provider/provider.ts';
import type { StreamReader } from '../contract/provider/stream-event.ts';

/** The reader of operations whose replies are never streams. */
export function neverStreams(): StreamReader {
  return { push: () => {}, usage: () => null, complete: () => true };
}

/** Members of operations that are not billed, such as calls about files, batches and jobs: the lines of a batch hold its tokens. */
export const uncounted = { usage: () => null, streamReader: neverStreams } satisfies Partial<Operation>;
