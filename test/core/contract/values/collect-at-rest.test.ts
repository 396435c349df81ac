import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ProcessFigures, restingCollector } from '../../../../core/contract/values/collect-at-rest.ts';

const mib = 1024 * 1024;

/** A process of 40 MiB at its start. `pass` lets an interval pass with this CPU time and memory, and returns whether it collected. */
function processOf({ live = 40 * mib } = {}) {
  let cpu = 0;
  let now = { heap: 30 * mib, outside: 10 * mib };
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
    expect([pass(10, 30, 370), pass(10, 30, 400), pass(10, 30, 402)]).toEqual([true, false, true]);
  });

  it('is left to V8 where the heap alone has grown', () => {
    const pass = processOf();
    expect([pass(10, 100, 10), pass(10, 250, 41), pass(10, 250, 42)]).toEqual([false, false, true]);
  });

  it('stays in a heap that takes long to collect', () => {
    const pass = processOf();
    expect([pass(10, 300, 300), pass(10, 200, 300)]).toEqual([false, true]);
  });

  it('in buffers of this process is freed', async () => {
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
      console.log((before - process.memoryUsage().external) / before);`;
    const args = ['--single-threaded-gc', '--no-warnings', '--input-type=module', '-e', program];
    const freed = Number((await promisify(execFile)(process.execPath, args)).stdout);
    expect(freed).toBeGreaterThan(0.5);
  });
});
