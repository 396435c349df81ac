/** A promise that a test resolves: `open()` resolves `opened` for all waiting callers. */
export interface Gate<T = void> {
  readonly opened: Promise<T>;
  open(value: T): void;
  /** Makes `opened` reject. Safe if no caller is waiting. */
  fail(error: Error): void;
}

/** A closed gate. Only the first `open` or `fail` counts. */
export function newGate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  opened.catch(() => undefined);
  return { opened, open, fail };
}
