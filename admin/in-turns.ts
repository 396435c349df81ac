import { setImmediate as nextTurn } from 'node:timers/promises';

/** Items per turn of the event loop. A turn then takes a few milliseconds. */
const itemsPerTurn = 500;

/** Like `flatMap`, for many items, with pauses in which the event loop serves other requests. */
export async function flatMapInTurns<T, R>(items: readonly T[], map: (item: T) => readonly R[]): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += itemsPerTurn) {
    if (at > 0) await nextTurn();
    for (const item of items.slice(at, at + itemsPerTurn)) results.push(...map(item));
  }
  return results;
}
