import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetOldRecords } from '../../../../admin/resources/logs/forget-old-records.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('feedback, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const send = (body: unknown) => plane.ask('POST', '/feedback', { key: plane.workspaceKey, body });
  const store = async (changes: Parameters<typeof sampleRecord>[0]) => {
    const record = sampleRecord({
      organisationId: plane.organisationId,
      workspaceId: plane.workspaceId,
      apiKeyId: null,
      ...changes,
    });
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    return record;
  };
  const feedbacksOf = async (id: string) => (await plane.ask('GET', `/logs/${id}`)).body.feedbacks;

  it('is stored with an audit entry, changed, and shown in the log of its trace', async () => {
    const { id } = await store({ traceId: 'order-17' });
    const body = { trace_id: 'order-17', value: -10, weight: 0.5, metadata: { _user: 'u1' } };
    const made = await expectChange(plane, () => send(body), { resource: 'feedbacks', action: 'create', events: [] });
    expect(made.body).toEqual({ status: 'success', message: 'The feedback is stored', feedback_ids: [expect.any(String)] });
    const [own] = made.body.feedback_ids;
    expect(await feedbacksOf(id)).toEqual([
      expect.objectContaining({ id: own, value: -10, weight: 0.5, metadata: { _user: 'u1' }, guardrail_id: null }),
    ]);
    const change = () => plane.ask('PUT', `/feedback/${own}`, { key: plane.workspaceKey, body: { feedback_id: own, value: 3 } });
    const changed = await expectChange(plane, change, { resource: 'feedbacks', action: 'update', events: [] });
    expect(changed.body.feedback_ids).toEqual([own]);
    expect(await feedbacksOf(id)).toEqual([expect.objectContaining({ id: own, value: 3, weight: 1, metadata: {} })]);
  });

  it('can come as a list, before the record of its trace', async () => {
    const made = await send([
      { trace_id: 'early', value: 1 },
      { trace_id: 'early', value: 2, weight: 7 },
    ]);
    expect(made.body.feedback_ids).toHaveLength(2);
    const { id } = await store({ traceId: 'early' });
    const shown = await feedbacksOf(id);
    expect(shown.map(({ value, weight }: { value: number; weight: number }) => [value, weight]).sort()).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it('guardrail feedback is stored once, with the record, unless its value is 0, and names the checks by their results', async () => {
    const check = (id: string, verdict: boolean, error: string | null = null) => ({
      ...{ id, verdict, error, failedOpen: error !== null, durationMs: 1 },
    });
    const guardrail = {
      ...{ id: 'g1', side: 'input', type: 'guardrail', targetPath: null, verdict: false, deny: false, async: false },
      ...{ transformed: false, durationMs: 3, feedback: { value: -5, weight: 0.25, metadata: { team: 'search' } } },
      checks: [
        check('default.contains', false),
        check('default.wordCount', true),
        check('default.webhook', true, 'TimeoutError'),
      ],
    } as const;
    const record = await store({
      traceId: 'judged',
      guardrails: [
        guardrail,
        { ...guardrail, id: 'g2', feedback: null },
        { ...guardrail, id: 'g3', feedback: { value: 0, weight: 1 } },
      ] as never,
    });
    await plane.internal('POST', '/records', [record]);
    expect(await feedbacksOf(record.id)).toEqual([
      expect.objectContaining({
        ...{ value: -5, weight: 0.25, guardrail_id: 'g1' },
        metadata: {
          team: 'search',
          successfulChecks: 'default.wordCount',
          failedChecks: 'default.contains',
          erroredChecks: 'default.webhook',
        },
      }),
    ]);
  });

  it('guardrail feedback cannot be replaced by an application', async () => {
    const guardrail = {
      ...{ id: 'g1', side: 'input', type: 'guardrail', targetPath: null, verdict: false, deny: false, async: false },
      ...{ transformed: false, durationMs: 3, feedback: { value: -5, weight: 1 }, checks: [] },
    };
    const { id } = await store({ traceId: 'fixed', guardrails: [guardrail] as never });
    const [{ id: feedbackId }] = await feedbacksOf(id);
    const reply = await plane.ask('PUT', `/feedback/${feedbackId}`, { key: plane.workspaceKey, body: { value: 10 } });
    expect([reply.status, reply.body.data.message]).toEqual([
      403,
      'This feedback was written by a guardrail and cannot be replaced. Send one of your own with POST /v1/feedback',
    ]);
    expect(await feedbacksOf(id)).toEqual([expect.objectContaining({ value: -5, guardrail_id: 'g1' })]);
  });

  it('is deleted in batches when it is old', async () => {
    const made = await send([
      { trace_id: 'old', value: 1 },
      { trace_id: 'old', value: 2 },
    ]);
    const em = plane.control.services.database.em();
    const [old, fresh] = made.body.feedback_ids;
    await em.execute(`update feedbacks set created_at = '2020-01-01' where id = ?`, [old]);
    expect(await forgetOldRecords(em.fork(), new Date('2021-01-01'), () => false, 'feedbacks')).toBe(1);
    expect(await em.execute(`select id from feedbacks where trace_id = 'old'`)).toEqual([{ id: fresh }]);
  });

  it('is deleted with its workspace', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Short-lived' } })).body;
    const keyBody = { name: 'k', scopes: ['logs.write'], workspace_id: workspace.id };
    const { key } = (await plane.ask('POST', '/api-keys/workspace/service', { body: keyBody })).body;
    const made = await plane.ask('POST', '/feedback', { key, body: { trace_id: 't', value: 0 } });
    expect(made.status).toBe(200);
    const body = { name: 'Short-lived', force_delete: true };
    expect((await plane.ask('DELETE', `/admin/workspaces/${workspace.id}`, { body })).status).toBe(200);
    const count = plane.control.services.database.em().execute('select 1 from feedbacks where workspace_id = ?', [workspace.id]);
    expect(await count).toEqual([]);
  });
});
