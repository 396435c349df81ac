import { BroadcastChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorkerPool, type Task, type WorkerPoolOptions } from '../../workers/pool.ts';
import double from './tasks/double.ts';
import type loadsSlowly from './tasks/loads-slowly.ts';
import type misbehave from './tasks/misbehave.ts';
import type requiresModules from './tasks/requires-modules.ts';
import type waitFor from './tasks/wait-for.ts';

type Way = Parameters<typeof misbehave>[0];

const fileOf = (name: string) => new URL(`./tasks/${name}.ts`, import.meta.url);
const threaded = <Input, Output>(name: string): Task<Input, Output> => ({ file: fileOf(name) });
const tasks = {
  double: { file: fileOf('double'), inline: { sizeMax: 10, sizeOf: (value: number) => value, run: double } },
  'loads-slowly': threaded<null, ReturnType<typeof loadsSlowly>>('loads-slowly'),
  misbehave: threaded<Way, number>('misbehave'),
  'requires-modules': threaded<null, ReturnType<typeof requiresModules>>('requires-modules'),
  'wait-for': threaded<SharedArrayBuffer, ReturnType<typeof waitFor>>('wait-for'),
  'wait-long': { ...threaded<SharedArrayBuffer, ReturnType<typeof waitFor>>('wait-for'), isUnbounded: true as const },
};

const log = { warn: () => {} };
let close = async (): Promise<void> => {};
function poolOf(options: Partial<WorkerPoolOptions> = {}) {
  const pool = createWorkerPool(tasks, {
    threads: 1,
    queueMax: 10,
    taskMs: 20_000,
    memoryMegabytes: 64,
    shortWaitMs: 60_000,
    log,
    ...options,
  });
  close = () => pool.close();
  return pool;
}
afterEach(() => close());

describe('worker pool', () => {
  it('runs a small input on the calling thread and a large one in a worker thread', async () => {
    const pool = poolOf();
    expect(pool.run('double', 10)).toBe(20);
    expect([pool.threads, pool.running]).toEqual([0, 0]);
    expect(await pool.run('double', 11)).toBe(22);
    expect(pool.threads).toBe(1);
    expect(pool.counts.get('double')).toEqual({ inline: 1, completed: 1, failed: 0, refused: 0 });
  });

  it.each([
    ['throw', 'failed with TypeError'],
    ['hang', 'took longer than 1000 ms'],
    ['exit', 'its thread ended'],
    ['eat', 'failed with ERR_WORKER_OUT_OF_MEMORY'],
  ] as const)('%s: the task fails with the reason, and the next task runs', async (how, reason) => {
    const pool = poolOf();
    await pool.run('double', 11);
    const failing = pool.run('misbehave', how, { timeoutMs: how === 'hang' ? 1000 : undefined });
    // Waits behind the failing task.
    const next = pool.run('double', 12);
    await expect(failing).rejects.toMatchObject({ code: 'internal', detail: `worker task misbehave: ${reason}` });
    expect(await next).toBe(24);
    expect(pool.counts.get('misbehave')).toMatchObject({ failed: 1 });
  });

  it('a thread that loads a task beyond its time loads it for the next one, and does not run it for the caller that gave up', async () => {
    const pool = poolOf();
    const channel = new BroadcastChannel('loads-slowly');
    const loading = new Promise((resolve) => {
      channel.onmessage = resolve;
    });
    const late = pool.run('loads-slowly', null, { timeoutMs: 1 });
    await expect(late).rejects.toMatchObject({
      code: 'internal',
      detail: 'worker task loads-slowly: took longer than 1 ms',
    });
    await loading;
    const next = pool.run('loads-slowly', null);
    channel.postMessage('continue');
    channel.close();
    expect(await next).toBe(1);
    expect(pool.counts.get('loads-slowly')).toEqual({ inline: 0, completed: 1, failed: 1, refused: 0 });
  });

  it('imports tasks: Node aborts the process if a thread ends while it requires a module', async () => {
    expect(await poolOf().run('requires-modules', null)).toBe(false);
  });

  it('names no input in the error of a task', async () => {
    const thrown = await Promise.resolve(poolOf().run('misbehave', 'throw')).catch((error: unknown) => error);
    expect(JSON.stringify([thrown, (thrown as Error).message, String((thrown as Error).cause)])).not.toContain('secret input');
  });

  it('rejects a task with overloaded when the queue is full, and runs those that wait', async () => {
    const pool = poolOf({ queueMax: 2 });
    const flag = new SharedArrayBuffer(4);
    const busy = pool.run('wait-for', flag);
    const waiting = [pool.run('double', 11), pool.run('double', 12)];
    expect([pool.running, pool.waiting]).toEqual([1, 2]);
    await expect(pool.run('double', 13)).rejects.toMatchObject({
      code: 'overloaded',
      detail: 'worker task double: the worker queue is full',
    });
    release(flag);
    expect(await Promise.all([busy, ...waiting])).toEqual(['released', 22, 24]);
    expect([pool.running, pool.waiting]).toEqual([0, 0]);
  });

  it('rejects a task with overloaded when no thread is free in time', async () => {
    const pool = poolOf();
    const flag = new SharedArrayBuffer(4);
    const busy = pool.run('wait-for', flag);
    await expect(pool.run('double', 11, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'overloaded',
      detail: 'worker task double: no worker thread was free within 20 ms',
    });
    expect(pool.waiting).toBe(0);
    release(flag);
    expect(await busy).toBe('released');
  });

  it('workspaces take turns, and the one whose task has run waits for those that came meanwhile', async () => {
    const pool = poolOf();
    const flag = new SharedArrayBuffer(4);
    const ended: string[] = [];
    const run = async (owner: string, value: number) => {
      await pool.run('double', value, { owner });
      ended.push(owner);
    };
    const busy = pool.run('wait-for', flag, { owner: 'many' });
    const waiting = [run('many', 11), run('many', 12), run('many', 13), run('few', 14), run('other', 15), run('few', 16)];
    release(flag);
    await Promise.all([busy, ...waiting]);
    expect(ended).toEqual(['few', 'other', 'many', 'few', 'many', 'many']);
  });

  it('a full queue rejects the last task of the workspace with the most tasks', async () => {
    const pool = poolOf({ queueMax: 3 });
    const flag = new SharedArrayBuffer(4);
    const busy = pool.run('wait-for', flag, { owner: 'many' });
    const many = [11, 12, 13].map((value) => Promise.resolve(pool.run('double', value, { owner: 'many' })));
    const few = pool.run('double', 14, { owner: 'few' });
    await expect(many[2]).rejects.toMatchObject({ code: 'overloaded', detail: 'worker task double: the worker queue is full' });
    await expect(pool.run('double', 15, { owner: 'many' })).rejects.toMatchObject({ code: 'overloaded' });
    release(flag);
    expect(await Promise.all([busy, many[0], many[1], few])).toEqual(['released', 22, 24, 28]);
  });

  it('runs as many tasks at once as it has threads', async () => {
    const pool = poolOf({ threads: 2 });
    const flag = new SharedArrayBuffer(4);
    const busy = pool.run('wait-for', flag);
    expect(await pool.run('double', 11)).toBe(22);
    release(flag);
    expect(await busy).toBe('released');
  });

  it('a short input does not wait for a long task of another workspace, and a long one and those of this workspace do', async () => {
    const pool = poolOf({ shortWaitMs: 1 });
    const flag = new SharedArrayBuffer(4);
    const ended: string[] = [];
    const run = async (name: string, owner: string, input: number | string) => {
      await pool.run('double', input as number, { owner });
      ended.push(name);
    };
    const busy = pool.run('wait-for', flag, { owner: 'slow' });
    const own = run('own', 'slow', 11);
    const long = run('long', 'other', 'x'.repeat(70_000));
    await Promise.all([run('short', 'one', 12), run('short', 'two', 13)]);
    expect([ended, pool.running, pool.waiting, pool.threads]).toEqual([['short', 'short'], 1, 2, 2]);
    release(flag);
    await Promise.all([busy, own, long]);
  });

  it('a short input does not wait for a long task of another workspace after a task of its own has ended', async () => {
    const pool = poolOf({ shortWaitMs: 1 });
    const flags = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)] as const;
    const own = pool.run('wait-long', flags[0], { owner: 'one' });
    const short = pool.run('double', 11, { owner: 'one' });
    const other = pool.run('wait-long', flags[1], { owner: 'other' });
    // The time of the first short input is over when this one, which began to wait later, has run.
    expect(await pool.run('double', 12, { owner: 'third' })).toBe(24);
    release(flags[0]);
    expect(await Promise.all([own, short])).toEqual(['released', 22]);
    release(flags[1]);
    expect(await other).toBe('released');
  });

  it('close: running and waiting tasks fail', async () => {
    const pool = poolOf();
    const running = pool.run('misbehave', 'hang');
    const waiting = pool.run('double', 11);
    const ends = Promise.allSettled([running, waiting]);
    await pool.close();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

function release(flag: SharedArrayBuffer): void {
  const cell = new Int32Array(flag);
  Atomics.store(cell, 0, 1);
  Atomics.notify(cell, 0);
}
