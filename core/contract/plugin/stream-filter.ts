import type { Reply } from './plugin.ts';

/**
 * Reads and changes a stream between the provider and the `onChunk` hooks, so that neither hooks nor clients receive the text that it holds
 * back. A built-in plugin sets it in `onAttemptResponse`; it lasts for that attempt.
 */
export interface StreamFilter {
  /** Set when the filter has denied the stream: from then on nothing of it leaves. */
  readonly denial: StreamDenial | null;
  /** Returns the bytes that may leave; empty for none yet. */
  write(chunk: Uint8Array): Uint8Array;
  /** Returns the last bytes of a complete stream. */
  end(): Uint8Array;
}

export interface StreamDenial {
  /** The reply of the failed attempt if no byte has left. */
  readonly reply: Reply;
  /** The events that end a stream that has begun; null: an error event of its format. */
  readonly lastEvents: string | null;
}
