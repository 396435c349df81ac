import { expect, it } from 'vitest';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: '@one/gpt-5', messages: [] };

it.each([
  'debug',
  'cache',
  'cache-force-refresh',
  'metadata',
  'strict-open-ai-compliance',
  'request-timeout',
  'nitro-mode',
  'sensitive-headers',
  'openai-organization',
])('x-svc-%s: an empty value is the same as no header', async (name) => {
  const gateway = createHarness();
  const reply = await gateway.send({ body, headers: { [`x-svc-${name}`]: '' } });
  expect([reply.status, gateway.calls.length]).toEqual([200, 1]);
});

it('x-svc-custom-host: rejects an empty value, so that no request goes to another host than intended', async () => {
  const gateway = createHarness();
  const reply = await gateway.send({ body, headers: { 'x-svc-custom-host': '' } });
  expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
  expect(reply.json).toMatchObject({ error: { code: 'invalid_custom_host', param: 'x-svc-custom-host' } });
});

it.each([
  ['debug', 'no'],
  ['cache', 'full'],
  ['cache-force-refresh', 'True'],
  ['strict-open-ai-compliance', '1'],
  ['audio-file-duration', '1:30'],
  ['audio-file-duration', '-1'],
])('x-svc-%s: rejects %s, which would have no effect', async (name, value) => {
  const gateway = createHarness();
  const reply = await gateway.send({ body, headers: { [`x-svc-${name}`]: value } });
  expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
  expect(reply.json).toMatchObject({ error: { param: `x-svc-${name}` } });
});
