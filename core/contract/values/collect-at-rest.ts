import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The process is looked at once per interval. */
const intervalMs = 5_000;
/** Share of one core below which the process rests. */
const restingShare = 0.05;
/**
 * Least growth of the memory outside the heap that is collected, in bytes. V8 itself limits the growth of the heap (`limitHeapGrowth`). Beside a large
 * heap it must be this share of it, because a collection stops the process for more than a millisecond per megabyte of objects.
 */
const growthBytesMin = 32 * 1024 * 1024;
const growthShareMin = 0.5;
/** With more objects in the heap, in bytes, a collection would stop a process for too long. */
const heapBytesMax = 256 * 1024 * 1024;

/** Figures of the process, without unit suffix in bytes. */
export interface ProcessFigures {
  /** CPU time since the start of the process, in microseconds. */
  cpuMicros(): number;
  /** Objects of JavaScript. */
  heap(): number;
  /** Memory of buffers and other memory outside the heap that the heap refers to. */
  outside(): number;
}

/**
 * Collects garbage when a process rests whose buffers have grown. V8 collects only while a program allocates, so that after a burst of large bodies a process
 * kept hundreds of megabytes of buffers that nothing refers to. Returns the function to call once per interval.
 */
export function restingCollector(figures: ProcessFigures, collect: () => void): () => void {
  let cpuMicros = figures.cpuMicros();
  let kept = figures.outside();
  return () => {
    const before = cpuMicros;
    cpuMicros = figures.cpuMicros();
    const heap = figures.heap();
    const outside = figures.outside();
    // V8 has collected, or what was in use is not any more.
    kept = Math.min(kept, outside);
    if (cpuMicros - before > intervalMs * 1000 * restingShare) return;
    if (heap > heapBytesMax || outside - kept < Math.max(growthBytesMin, heap * growthShareMin)) return;
    collect();
    kept = figures.outside();
  };
}

/** Starts it for this process. Call it at the end of a start, like `keepObjectsYoung`. */
export function collectAtRest(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Otherwise each later worker thread and context would have a global `gc`.
  if (!('gc' in globalThis)) setFlagsFromString('--no-expose-gc');
  const figures: ProcessFigures = {
    cpuMicros() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    heap: () => process.memoryUsage().heapUsed,
    outside: () => process.memoryUsage().external,
  };
  setInterval(restingCollector(figures, collect), intervalMs).unref();
}
