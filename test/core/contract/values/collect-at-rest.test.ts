import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ProcessFigures, restingCollector } from '../../../../core/contract/values/collect-at-rest.ts';

const mib = 1024 * 1024;

/** A process of 40 MiB at its start. `pass` lets an interval pass with this CPU time and memory, and returns whether it collected. */
function processOf({ live = 40 * mib, heap: heapMib = 30 } = {}) {
  let cpu = 0;
  let now = { heap: heapMib * mib, outside: 10 * mib };
  const figures: ProcessFigures = { cpuMicros: () => cpu, heap: () => now.heap, outside: () => now.outside };
  let collections = 0;
  const look = restingCollector(figures, () => {
    collections++;
    now = { heap: 30 * mib, outside: live - 30 * mib };
  });
  return (cpuMs: number, heap: number, outside: number): boolean => {
    cpu += cpuMs * 1000;
    now = { heap: heap * mib, outside: outside * mib };
    const before = collections;
    look();
    return collections > before;
  };
}

describe('garbage at rest', () => {
  it('is collected once memory outside the heap has grown', () => {
    const pass = processOf();
    expect([pass(10, 30, 10), pass(10, 31, 20), pass(10, 30, 300), pass(10, 30, 10)]).toEqual([false, false, true, false]);
  });

  it('waits while the process works', () => {
    const pass = processOf();
    expect([pass(4_000, 30, 300), pass(300, 30, 300), pass(200, 30, 300)]).toEqual([false, false, true]);
  });

  it('is not looked for again where the memory is in use, such as by cached replies', () => {
    const pass = processOf({ live: 400 * mib });
    expect([pass(10, 30, 370), pass(10, 30, 390), pass(10, 30, 410)]).toEqual([true, false, true]);
  });

  it('is collected after memory that was in use was freed', () => {
    const pass = processOf({ live: 400 * mib });
    expect([pass(10, 30, 370), pass(4_000, 30, 50), pass(10, 30, 300)]).toEqual([true, false, true]);
  });

  it('is left to V8 where the heap alone has grown', () => {
    const pass = processOf();
    expect([pass(10, 60, 10), pass(10, 60, 41), pass(10, 60, 42)]).toEqual([false, false, true]);
  });

  it('stays until it is half of a large heap, because each collection stops the process', () => {
    const pass = processOf({ heap: 180 });
    expect([pass(10, 200, 10), pass(10, 200, 100), pass(10, 200, 111)]).toEqual([false, false, true]);
  });

  it('stays in a heap that takes long to collect', () => {
    const pass = processOf();
    expect([pass(10, 300, 300), pass(10, 200, 300)]).toEqual([false, true]);
  });

  it('in buffers of this process is freed, and threads have no function that collects', async () => {
    const module = new URL('../../../../core/contract/values/collect-at-rest.ts', import.meta.url).href;
    const program = `
      import { collectAtRest } from ${JSON.stringify(module)};
      let look;
      globalThis.setInterval = (callback) => { look = callback; return { unref() {} }; };
      collectAtRest();
      const bodies = Array.from({ length: 80 }, () => Buffer.alloc(1024 * 1024));
      bodies.length = 0;
      const before = process.memoryUsage().external;
      process.cpuUsage = () => ({ user: 0, system: 0 });
      look();
      const { Worker } = await import('node:worker_threads');
      const [seen] = await new Promise((resolve) => {
        new Worker("require('node:worker_threads').parentPort.postMessage([typeof gc])", { eval: true, execArgv: [] }).once('message', resolve);
      });
      console.log(JSON.stringify([(before - process.memoryUsage().external) / before, seen]));`;
    const args = ['--single-threaded-gc', '--no-warnings', '--input-type=module', '-e', program];
    const [freed, seen] = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
    expect(freed).toBeGreaterThan(0.5);
    expect(seen).toBe('undefined');
  });
});
