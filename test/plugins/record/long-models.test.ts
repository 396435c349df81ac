import { expect, it } from 'vitest';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

it('records have at most 255 characters of a model name, also if no provider was called', async () => {
  const harness = createHarness();
  const body = { model: 'm'.repeat(5_000), messages: [{ role: 'user', content: 'hello' }] };
  const ask = (headers: Record<string, string>) => harness.send({ method: 'POST', path: '/v1/chat/completions', headers, body });
  await ask({});
  await ask({ 'x-svc-provider': '@unknown' });
  expect(harness.records.map(({ model }) => model?.length)).toEqual([255, 255]);
});
