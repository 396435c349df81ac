/** A value, or a promise of it. The runner awaits promises only. */
export type Maybe<T> = T | Promise<T>;

/** Calls `next` with the value: at once if it is there, otherwise when its promise resolves. */
export function after<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** Returns all values: at once if all are there, otherwise when the last promise resolves. */
export function all<T>(values: readonly Maybe<T>[]): Maybe<T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as T[]);
}

/** True for every object with a `then`, also of another realm or library. */
export function isPromise<T>(value: Maybe<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
