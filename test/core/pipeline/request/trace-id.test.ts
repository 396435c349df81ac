import { describe, expect, it } from 'vitest';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';

async function ask(headers: Record<string, string>) {
  const harness = createHarness();
  const reply = await harness.send({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${harness.key}`, 'x-svc-provider': '@one', ...headers },
    body: { model: 'm', messages: [] },
  });
  return { reply, record: harness.records[0] };
}

describe('x-svc-trace-id', () => {
  it.each(['t1', 'a trace with spaces', 'x'.repeat(255), '{"json":[1]}'])('%s is kept in record and reply', async (id) => {
    const { reply, record } = await ask({ 'x-svc-trace-id': id });
    expect([reply.status, reply.header('x-svc-trace-id'), record?.traceId]).toEqual([200, id, id]);
  });

  it.each(['x'.repeat(256), 'caf\xe9'])('%s is rejected with 400 by name, and the reply has a new id', async (id) => {
    const { reply, record } = await ask({ 'x-svc-trace-id': id });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({
      error: { message: 'x-svc-trace-id: expected 1 to 255 printable ASCII characters', param: 'x-svc-trace-id' },
    });
    expect(record?.traceId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is treated as absent if empty', async () => {
    const { reply } = await ask({ 'x-svc-trace-id': '' });
    expect([reply.status, reply.header('x-svc-trace-id')]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });
});
