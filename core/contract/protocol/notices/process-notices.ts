import { isObject } from '../../values/json/json.ts';

/** One end of a cluster channel: `process` in a worker, which receives messages of the supervisor, or a `cluster.Worker` in the primary. */
export interface MessageSource {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/**
 * Listens for notices of other processes of this machine, which the supervisor passes on as `{ type: subject, notice }`. `onNotice` receives each one
 * unchecked. Returns a function that ends the callbacks, which is safe to call twice.
 */
export function listenToProcess(source: MessageSource, subject: string, onNotice: (notice: unknown) => void): () => void {
  const listener = (message: unknown): void => {
    if (isObject(message) && message.type === subject) onNotice(message.notice);
  };
  source.on('message', listener);
  return () => void source.off('message', listener);
}
