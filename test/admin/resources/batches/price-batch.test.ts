import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followBatches } from '../../../../admin/resources/batches/follow-batch.ts';
import { batchUsagePath } from '../../../../core/contract/provider/batch-usage.ts';
import { newFakeTime } from '../../../support/fakes/fake-time.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('a batch that a provider runs, on %s', (database) => {
  let plane: Plane;
  let gateway: Server;
  let asked: { document: { provider: string; secrets: string | null }; settings: object; batchId: string }[];
  let replies: (object | number)[];
  const time = newFakeTime(Date.now());
  const deadlineMs = 45_000;
  const used = { inputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 100, reasoningTokens: 0 };
  const media = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0 };
  const ended = {
    state: 'ended',
    parts: [
      {
        ...{ model: 'gpt-4o', operation: 'chatComplete', serviceTier: null, sizeClass: 0, requests: 4 },
        ...{ ...used, ...media, units: {}, raw: null },
      },
    ],
  };

  beforeEach(async () => {
    asked = [];
    gateway = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const isRight =
          request.url === batchUsagePath && request.headers.authorization === `Bearer ${plane.settings.clusterKeyText}`;
        asked.push(JSON.parse(text));
        const reply = isRight ? (replies.shift() ?? { state: 'running', parts: [] }) : 404;
        response.writeHead(typeof reply === 'number' ? reply : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(typeof reply === 'number' ? {} : reply));
      });
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    plane = await startPlane(database, { GATEWAY_URL: url, BATCH_POLL_INTERVAL: '10' }, { clock: time.clock });
    const body = { name: 'O', slug: 'o', ai_provider_id: 'openai', key: 'sk-secret-0123456789', create_default_provider: false };
    expect((await plane.ask('POST', '/integrations', { body })).status).toBe(200);
    const provider = { name: 'P', slug: 'p', integration_id: 'o', workspace_id: plane.workspaceId };
    expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);
  });
  afterEach(async () => {
    await plane?.close();
    gateway.closeAllConnections();
    gateway.close();
  });

  const made = () => {
    const { organisationId, workspaceId } = plane;
    const batch = { id: 'batch_1', part: 'made' as const, requests: 0, settings: { region: 'r' } };
    return sampleRecord({
      ...{ id: randomUUID(), organisationId, workspaceId, provider: 'openai', providerSlug: 'p', batch, traceId: 'of-the-batch' },
      ...{ createdAt: new Date(time.clock.now() - 1_000).toISOString(), reservations: undefined },
    });
  };
  const em = () => plane.control.services.database.em();
  const results = () =>
    em().execute<{ cost_micro_usd: string; trace_id: string; model: string; api_key_id: string }[]>(
      `select * from request_records where record->'batch'->>'part' = 'result'`,
    );
  const jobsOver = () =>
    until(async () => (await em().execute('select 1 from jobs')).length === 0, { what: 'the end of the job', deadlineMs });

  it('is polled until it ends, through failures, and then recorded once, however often it is read', async () => {
    replies = [{ state: 'running', parts: [] }, 500, 503, ended];
    const record = made();
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    await jobsOver();
    expect(asked).toHaveLength(4);
    expect(asked[0]).toMatchObject({ batchId: 'batch_1', settings: { region: 'r' }, document: { provider: 'openai' } });
    expect(JSON.stringify(asked)).not.toContain('sk-secret');
    const [result, ...more] = await results();
    // $2.5 and $10 per million tokens, halved.
    expect(result).toMatchObject({ trace_id: 'of-the-batch', model: 'gpt-4o', api_key_id: record.apiKeyId });
    expect(Number(result?.cost_micro_usd)).toBe(1_750);
    expect(more).toEqual([]);
    // The same record again changes nothing, and a finished job that runs again stores nothing.
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 0, duplicates: 1 });
    replies = [ended];
    await followBatches(em(), [{ record, cost: null, source: null }], Date.now());
    await jobsOver();
    expect(asked).toHaveLength(5);
    expect(await results()).toHaveLength(1);
  });

  it.each([
    ['the provider no longer has the batch', async () => void replies.push({ state: 'gone', parts: [] })],
    [
      'the provider was deleted',
      async () => {
        expect((await plane.ask('DELETE', `/providers/p?workspace_id=${plane.workspaceId}`)).status).toBe(200);
      },
    ],
    ['the batch did not end in time or could not be read', async () => void time.advance(11 * 86_400_000)],
  ])('batch pricing: a batch is abandoned with a warning: %s', async (why, happen) => {
    replies = [];
    const record = made();
    await happen();
    await plane.internal('POST', '/records', [record]);
    await jobsOver();
    expect(await results()).toEqual([]);
    expect(JSON.stringify(plane.log.lines)).toContain(why);
  });
});
