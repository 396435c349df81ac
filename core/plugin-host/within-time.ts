/** Settles as the promise does, or rejects with the error that `late` returns after `timeoutMs`. */
export function withinTime<T>(pending: PromiseLike<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs);
    Promise.resolve(pending)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
