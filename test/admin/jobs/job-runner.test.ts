import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addJob } from '../../../admin/jobs/add-job.ts';
import { jobs } from '../../../admin/jobs/entity.ts';
import { startJobRunner } from '../../../admin/jobs/job-runner.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('jobs, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('leave capacity for other organisations, however many one organisation has', async () => {
    const { services } = plane.control;
    const other = await plane.newTenant();
    const em = services.database.em();
    const add = (key: string, organisationId: string, runAt: Date) => addJob(em, { kind: 'held', key, organisationId, runAt });
    for (let i = 0; i < 20; i++) await add(`greedy-${i}`, plane.organisationId, new Date(Date.now() - 60_000));
    await add('modest', other.organisationId, new Date());

    const began: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const runner = startJobRunner({
      handlers: {
        async held({ key }) {
          began.push(key);
          await held;
          return 'done';
        },
      },
      leaseMs: 15_000,
      database: services.database,
      log: plane.log,
      runningMax: 4,
    });
    try {
      await until(() => began.includes('modest'), { what: 'the job of the other organisation' });
      expect(began.filter((key) => key.startsWith('greedy'))).toHaveLength(3);
      release();
      await until(() => began.length === 21, { what: 'all jobs' });
    } finally {
      release();
      await runner.close();
    }
  });

  it('leave nothing in memory when they end, and end when the process stops', async () => {
    const { database } = plane.control.services;
    const { organisationId, log } = plane;
    const combine = vi.spyOn(AbortSignal, 'any');
    const signals: AbortSignal[] = [];
    const handlers = {
      async brief({ signal }: { readonly signal: AbortSignal }) {
        signals.push(signal);
        return 'done' as const;
      },
      long: ({ signal }: { readonly signal: AbortSignal }) =>
        new Promise<'done'>((resolve) => {
          signals.push(signal);
          signal.addEventListener('abort', () => resolve('done'));
        }),
    };
    await addJob(database.em(), { kind: 'brief', key: 'a', organisationId, runAt: new Date() });
    await addJob(database.em(), { kind: 'long', key: 'b', organisationId, runAt: new Date() });
    const runner = startJobRunner({ handlers, leaseMs: 15_000, database, log });
    await until(() => signals.length === 2, { what: 'both jobs' });
    await until(async () => (await database.em().count(jobs, { kind: 'brief' })) === 0);
    await runner.close();
    expect(signals.map((signal) => signal.aborted).sort()).toEqual([false, true]);
    // Each combination with a signal of the process stays in memory until the process ends: nodejs/node#64476.
    expect(combine).not.toHaveBeenCalled();
    combine.mockRestore();
  });

  it('are retried after a failure, and have its reason', async () => {
    const { database } = plane.control.services;
    const { organisationId, log } = plane;
    await addJob(database.em(), { kind: 'failing', key: 'a', organisationId, runAt: new Date() });
    const handlers = { failing: () => Promise.reject(new Error('no such host')) };
    const runner = startJobRunner({ handlers, leaseMs: 15_000, database, log, runningMax: 1 });
    try {
      const failed = await until(() => database.em().findOne(jobs, { kind: 'failing', attempts: 1 }), { what: 'the failure' });
      expect(failed?.lastError).toBe('no such host');
      const line = log.lines.find(({ message }) => message.startsWith('job failed'));
      // The log masks fields with the name `key`.
      expect(line?.fields).toMatchObject({ kind: 'failing', job: 'a', reason: 'no such host' });
    } finally {
      await runner.close();
    }
  });
});
