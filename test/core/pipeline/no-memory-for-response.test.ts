import { expect, it } from 'vitest';
import { BodyMemory } from '../../../core/contract/values/bodies/body-memory.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { chatReply, createHarness, failWith, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

it.each([
  ['fallback', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] }],
  ['retry', { provider: '@one', retry: { attempts: 2, on_status_codes: [503] } }],
])('a response without memory in this process ends the request without %s, and its usage counts', async (_mode, config) => {
  const gateway = createHarness({ memory: new BodyMemory(8 * 1024) });
  gateway.script(replyWith(200, chatReply('x'.repeat(10_000))));
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const reply = await gateway.send({ headers, body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } });
  expect([reply.status, reply.text]).toEqual([503, expect.stringContaining('BODY_MEMORY_MAX')]);
  expect(gateway.calls).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ errorCode: 'overloaded', usageEstimated: true });
  expect(gateway.records[0]?.inputTokens).toBeGreaterThan(0);
});

it.each([
  ['fallback', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] }],
  ['retry', { provider: '@one', retry: { attempts: 1, on_status_codes: [503] } }],
])('a target for which this machine opens no socket was not called: a %s follows', async (_mode, config) => {
  const gateway = createHarness();
  gateway.script(failWith(new GatewayError('overloaded', { retryAfterMs: 1 })), replyWith(200, chatReply('hello')));
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const reply = await gateway.send({ headers, body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } });
  expect([reply.status, gateway.records[0]?.attempts.map(({ status }) => status)]).toEqual([200, [503, 200]]);
});
