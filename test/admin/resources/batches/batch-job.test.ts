import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { newFakeTime } from '../../../support/fakes/fake-time.ts';
import { until } from '../../../support/until.ts';
import { ownStoreOf } from '../../support/own-store.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const dayMs = 86_400_000;
const deadlineMs = 45_000;

describe.each(ruleDatabases)('the job of a batch, on %s', (database) => {
  let plane: Plane;
  let gateway: Server;
  /** Lines as the gateway received them. */
  let sent: string[];
  let reply: (text: string) => { status: number; body: object };
  const time = newFakeTime(Date.now());

  beforeEach(async () => {
    sent = [];
    gateway = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const { content } = JSON.parse(text).messages[0];
        sent.push(content);
        const { status, body } = reply(content);
        response
          .writeHead(status, { 'content-type': 'application/json', 'x-svc-trace-id': `trace-${content}` })
          .end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const env = { GATEWAY_URL: url, BATCH_INTERVAL: '10', BATCH_BUCKET_LINES: '2' };
    plane = await startPlane(database, env, { clock: time.clock });
  });
  afterEach(async () => {
    await plane?.close();
    gateway.closeAllConnections();
    gateway.close();
  });

  const lineOf = (id: string) =>
    JSON.stringify({
      custom_id: id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user', content: id }] },
    });

  async function begin(ids: readonly string[]) {
    const key = await plane.control.services.database.em().findOneOrFail(apiKeys, { workspaceId: plane.workspaceId });
    const store = ownStoreOf(plane, key.id);
    const file = await store.upload(ids.map(lineOf).join('\n'));
    const batch = { input_file_id: file.body.id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const made = await store.ask('POST', '/batches', { batch, headers: {} });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const { id, created_at: createdAt } = made.body;
    expect(made.body.expires_at - createdAt).toBe(dayMs / 1000);
    const read = async () => (await store.ask('GET', `/batches/${id}`)).body;
    const lines = async (fileId: string) =>
      (await store.content(fileId))
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text));
    return { read, lines };
  }

  it('takes null for the expiry of its output, as the SDK for Rust sends it, and refuses a value', async () => {
    const key = await plane.control.services.database.em().findOneOrFail(apiKeys, { workspaceId: plane.workspaceId });
    const store = ownStoreOf(plane, key.id);
    const file = await store.upload(lineOf('a'));
    const batch = { input_file_id: file.body.id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    reply = () => ({ status: 200, body: { ok: true } });
    const begun = await store.ask('POST', '/batches', { batch: { ...batch, output_expires_after: null }, headers: {} });
    expect(begun.status, JSON.stringify(begun.body)).toBe(200);
    const expiry = { anchor: 'created_at', seconds: 3_600 };
    const refused = await store.ask('POST', '/batches', { batch: { ...batch, output_expires_after: expiry }, headers: {} });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('output_expires_after: not supported for batches run by the service');
  });

  it('ends after 24 hours: finished lines are kept, the rest expires, and nothing more is sent', async () => {
    reply = (id) => (id === 'a' ? { status: 200, body: { ok: true } } : { status: 503, body: { error: {} } });
    const { read, lines } = await begin(['a', 'b', 'c']);
    await until(() => sent.length === 3, { what: 'a try of each line', deadlineMs });
    await until(async () => (await read()).request_counts.completed === 1, { what: 'the completed line', deadlineMs });
    time.advance(dayMs - 60_000);
    await until(() => sent.length >= 5, { what: 'another try of the lines that failed', deadlineMs });
    expect((await read()).status).toBe('in_progress');
    time.advance(120_000);
    const batch = await until(async () => ((await read()).status === 'expired' ? read() : null), {
      what: 'the end of the time',
      deadlineMs,
    });
    expect(batch).toMatchObject({ request_counts: { total: 3, completed: 1, failed: 2 }, completed_at: null });
    expect(batch.expired_at).toBeGreaterThanOrEqual(batch.expires_at);
    expect(await lines(batch.output_file_id)).toMatchObject([
      { custom_id: 'a', response: { status_code: 200, request_id: 'trace-a' } },
    ]);
    expect(await lines(batch.error_file_id)).toMatchObject([
      { custom_id: 'b', response: null, error: { code: 'batch_expired' } },
      { custom_id: 'c', response: null, error: { code: 'batch_expired' } },
    ]);
    const before = sent.length;
    time.advance(dayMs);
    await until(async () => (await plane.control.services.database.em().execute('select 1 from jobs')).length === 0, {
      what: 'the end of the job',
      deadlineMs,
    });
    expect(sent.length).toBe(before);
  });

  it('adds up the cached and reasoning tokens of its lines', async () => {
    const ofChat = {
      usage: {
        ...{ prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 },
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    };
    const ofMessages = {
      type: 'message',
      usage: { input_tokens: 4, cache_read_input_tokens: 10, cache_creation_input_tokens: 2, output_tokens: 3 },
    };
    reply = (id) => ({ status: 200, body: id === 'a' ? ofChat : ofMessages });
    const { read } = await begin(['a', 'b']);
    const batch = await until(
      async () => {
        time.advance(1_000);
        const found = await read();
        return found.status === 'completed' ? found : null;
      },
      { what: 'the end of the batch', deadlineMs },
    );
    expect(batch.usage).toEqual({
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 26 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 48,
    });
  });

  it('sends a line again that a provider was too busy for, five times in all, and then reports it', async () => {
    reply = () => ({ status: 529, body: { error: { message: 'busy' } } });
    const { read, lines } = await begin(['a']);
    const batch = await until(
      async () => {
        time.advance(61_000);
        const found = await read();
        return found.status === 'completed' ? found : null;
      },
      { what: 'the end of the batch', deadlineMs },
    );
    expect(sent).toEqual(['a', 'a', 'a', 'a', 'a']);
    expect(await lines(batch.error_file_id)).toMatchObject([{ custom_id: 'a', response: { status_code: 529 } }]);
  });
});
