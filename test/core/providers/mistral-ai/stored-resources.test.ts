import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';

it('mistral-ai: finds batches after the first hundred', async () => {
  const harness = createHarness();
  harness.addConfig('mistral', { provider: 'mistral-ai', api_key: 'k' });
  const jobs = Array.from({ length: 102 }, (_, number): JsonObject => ({ id: `job-${number}`, status: 'QUEUED' }));
  const page = (number: number) =>
    replyWith(200, { object: 'list', data: jobs.slice(number * 100, number * 100 + 100), total: jobs.length });
  harness.script(page(0), page(1));
  const list = await openAiOver(harness, { 'x-svc-config': 'mistral' }).batches.list({ limit: 1, after: 'job-99' });
  expect([list.data.map(({ id }) => id), list.has_more]).toEqual([['job-100'], true]);
  expect(harness.calls.map(({ path }) => path)).toEqual([
    '/v1/batch/jobs?page_size=100&page=0',
    '/v1/batch/jobs?page_size=100&page=1',
  ]);
});

it('mistral-ai: returns the page of files that a client of Mistral asks for, with its total', async () => {
  const harness = createHarness();
  harness.addConfig('mistral', { provider: 'mistral-ai', api_key: 'k' });
  const page = { object: 'list', data: [{ id: 'file-11', object: 'file', size_bytes: 3, purpose: 'batch' }], total: 11 };
  harness.script(replyWith(200, page));
  const path = '/v1/files?page=2&page_size=5&include_total=true&purpose=batch';
  const reply = await harness.send({ method: 'GET', path, headers: { 'x-svc-config': 'mistral' } });
  expect([reply.status, reply.json]).toEqual([200, page]);
  expect(harness.calls.map((call) => call.path)).toEqual([path]);
});
