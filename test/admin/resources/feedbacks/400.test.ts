import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('feedback: rejected bodies, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const good = { trace_id: 't', value: 1 };
  it.each([
    { problem: 'no trace', body: { value: 1 } },
    { problem: 'an empty trace', body: { ...good, trace_id: '' } },
    { problem: 'no value', body: { trace_id: 't' } },
    { problem: 'a value above 10', body: { ...good, value: 11 } },
    { problem: 'a value below -10', body: { ...good, value: -11 } },
    { problem: 'a fraction as value', body: { ...good, value: 0.5 } },
    { problem: 'a text as weight', body: { ...good, weight: '1' } },
    { problem: 'a list as metadata', body: { ...good, metadata: ['a'] } },
    { problem: 'metadata of 5,000 characters', body: { ...good, metadata: { a: 'x'.repeat(5_000) } } },
    { problem: 'an unknown field', body: { ...good, score: 1 } },
    { problem: 'an empty list', body: [] },
    { problem: 'a list with a bad item', body: [good, { ...good, value: 99 }] },
    { problem: 'a list of 101', body: Array.from({ length: 101 }, () => good) },
  ])('$problem is rejected', async ({ body }) => {
    await expectRefusal(plane, () => plane.ask('POST', '/feedback', { key: plane.workspaceKey, body }), 400, 'AB01', true);
  });

  it.each([
    [{ value: 1 }, 'trace_id: required'],
    [{ ...good, value: 11 }, 'value: a whole number from -10 to 10 is expected'],
    [{ ...good, score: 1 }, 'score: unknown key'],
    [[good, { value: 1 }], '[1].trace_id: required'],
  ])('the error of %j names the field', async (body, message) => {
    const reply = await plane.ask('POST', '/feedback', { key: plane.workspaceKey, body });
    expect(reply.body.data.message).toBe(message);
  });

  it('a change without a value is rejected', async () => {
    const made = await plane.ask('POST', '/feedback', { key: plane.workspaceKey, body: good });
    const path = `/feedback/${made.body.feedback_ids[0]}`;
    await expectRefusal(plane, () => plane.ask('PUT', path, { key: plane.workspaceKey, body: {} }), 400, 'AB01', true);
  });
});
