/** One write of the register, in order. Times are `performance.now()` of the one writer. */
export interface Write {
  readonly version: number;
  readonly startedMs: number;
  readonly repliedMs: number;
  /** `refused`: the reply states that nothing was written. `unknown`: no reply, or one that does not state it. */
  readonly outcome: 'acknowledged' | 'refused' | 'unknown';
}

/** One call with a reply of an instance. Calls to one instance never overlap. */
export interface Read {
  readonly version: number;
  readonly sentMs: number;
  readonly receivedMs: number;
  /** Counts the processes that served this instance, one after another. */
  readonly incarnation: number;
}

export interface History {
  readonly writes: readonly Write[];
  /** By instance. */
  readonly reads: ReadonlyMap<string, readonly Read[]>;
}

/**
 * Returns the violations in a recorded history of one register that only increases; empty if there are none. A history is valid
 * if no process goes back to an older value, no value is read before it was written or without having been written, and in the
 * end every instance shows the last acknowledged write (or a later one whose outcome is unknown).
 */
export function checkHistory({ writes, reads }: History): string[] {
  const failures: string[] = [];
  const byVersion = new Map(writes.map((write) => [write.version, write]));
  for (const [index, write] of writes.entries()) {
    if (index > 0 && write.version <= (writes[index - 1] as Write).version)
      failures.push(`write ${write.version}: does not go up`);
  }
  const lastAcknowledged = writes.findLast((write) => write.outcome === 'acknowledged')?.version ?? 0;
  for (const [instance, seen] of reads) {
    let before: Read | null = null;
    for (const read of seen) {
      const write = byVersion.get(read.version);
      const at = `${instance} at ${Math.round(read.receivedMs)} ms`;
      if (!write) failures.push(`${at}: shows ${read.version}, which was never written`);
      else if (write.outcome === 'refused') failures.push(`${at}: shows ${read.version}, which was refused`);
      else if (read.receivedMs < write.startedMs) failures.push(`${at}: shows ${read.version} before it was written`);
      if (before && before.incarnation === read.incarnation && read.version < before.version) {
        failures.push(`${at}: goes back from ${before.version} to ${read.version}`);
      }
      before = read;
    }
    if (!before) failures.push(`${instance}: never replied`);
    else if (before.version < lastAcknowledged)
      failures.push(`${instance}: ends with ${before.version}, not ${lastAcknowledged}`);
  }
  return failures;
}
