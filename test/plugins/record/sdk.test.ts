import { expect, it } from 'vitest';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

async function sdkOf(headers: Record<string, string>) {
  const gateway = createHarness();
  await gateway.send({ body: { model: '@one/gpt-5', messages: [] }, headers });
  return gateway.records[0]?.sdk;
}

it('record: names the SDK that the client states', async () => {
  const headers = { 'x-svc-runtime': 'node', 'x-svc-runtime-version': 'v22', 'x-svc-package-version': 'sdk-1.2.3' };
  expect(await sdkOf(headers)).toEqual({ runtime: 'node', runtimeVersion: 'v22', version: 'sdk-1.2.3' });
  expect(await sdkOf({ 'x-svc-runtime': 'x'.repeat(200) })).toEqual({
    runtime: 'x'.repeat(100),
    runtimeVersion: null,
    version: null,
  });
  expect(await sdkOf({})).toBeUndefined();
});
