/** The streams of this process that have no end of their own. They must end before the process can stop. */
export interface OpenStreams {
  readonly isClosed: boolean;
  /** Adds a stream. The returned function removes it; `end` is called once if the process stops first. */
  add(end: () => void): () => void;
  /** Ends all streams, and those that are added later. */
  close(): void;
}

export function createOpenStreams(): OpenStreams {
  const open = new Set<() => void>();
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    add(end) {
      if (isClosed) end();
      else open.add(end);
      return () => open.delete(end);
    },
    close() {
      isClosed = true;
      for (const end of open) end();
      open.clear();
    },
  };
}
