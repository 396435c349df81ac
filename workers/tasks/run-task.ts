/** A task for a thread. */
export interface Order {
  /** URL of the file whose default export is the task. */
  readonly file: string;
  readonly input: unknown;
  /** One integer: the progress of this task, which the thread and the pool share. */
  readonly progress: Int32Array;
}

/** Values of `progress`. Only `waiting` changes: to `begun` by the thread, or to `givenUp` by the pool. */
export const taskProgress = { waiting: 0, begun: 1, givenUp: 2 } as const;

/** Loads a task and runs it, unless its caller gave up before. */
export default async function runTask({ file, input, progress }: Order): Promise<unknown> {
  const { default: task } = (await import(file)) as { default(input: unknown): unknown };
  const before = Atomics.compareExchange(progress, 0, taskProgress.waiting, taskProgress.begun);
  return before === taskProgress.waiting ? task(input) : undefined;
}
