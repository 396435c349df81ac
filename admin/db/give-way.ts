import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Lets other events be handled before the next statement. The embedded database runs in this thread and continues with a waiting statement in
 * a microtask, so that a transaction would otherwise delay everything else until its end.
 */
export async function giveWay(): Promise<void> {
  // The first turn may come before sockets are read again, the second does not.
  await nextTurn();
  await nextTurn();
}
