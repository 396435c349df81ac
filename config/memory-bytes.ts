import { totalmem } from 'node:os';

/** Returns the limit of the container, or the memory of the machine. Without a limit Node returns 0 or more than there is. */
export function memoryBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}
