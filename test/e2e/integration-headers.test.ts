import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { reply } from '../support/upstream/fake-upstream.ts';

/** Part of both values, which no other test of the shared product uses. */
const mark = randomBytes(8).toString('hex');
const planted = `${mark}-header-0123456789`;
const renewed = `${mark}-renewed-9876543210`;

let gateway: SharedGatewayWithUpstream;
const seen: unknown[] = [];
const integration = () => gateway.admin.integrationOf('guarded');
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const { admin, upstream } = gateway;
  const configurations = {
    custom_host: upstream.openaiHost,
    custom_headers: { 'CF-Access-Client-Secret': planted, 'X-Team': 'a' },
  };
  await admin.createUpstream('guarded', upstream.openaiHost, { configurations });
  const mock = { ai_provider_id: 'mock', configurations: { custom_headers: { 'x-access-token': planted, 'x-team': 'a' } } };
  await admin.createUpstream('echoing', upstream.openaiHost, mock);
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const ask = async (path = '/chat/completions', provider = '@guarded') => {
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] };
  const reply = await gateway.call(path, { headers: { 'x-svc-provider': provider }, body });
  seen.push(await reply.clone().text(), [...reply.headers]);
  return reply;
};
const sent = (name: string) => gateway.upstream.last.headerValues(name);

it('integration headers: they are sent to the integration’s host with every call, pass-through too, and follow changes', async () => {
  const reply = await ask();
  expect(reply.status).toBe(200);
  expect([sent('cf-access-client-secret'), sent('x-team')]).toEqual([[planted], ['a']]);
  seen.push(await gateway.logOf(reply));
  await ask('/proxy/some/route');
  expect(gateway.upstream.last.path).toContain('/some/route');
  expect(sent('cf-access-client-secret')).toEqual([planted]);
  const custom_headers = { 'cf-access-client-secret': renewed, 'x-team': 'a' };
  const changed = await gateway.admin.put(`/integrations/${integration()}`, { configurations: { custom_headers } });
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  await until(async () => (await ask()).status === 200 && sent('cf-access-client-secret')[0] === renewed, {
    what: 'the new header',
  });
});

it('integration headers: they are sent in connection tests, stored or not, and echoes of them are not returned', async () => {
  const { admin, upstream } = gateway;
  expect((await admin.post(`/integrations/${integration()}/test`, {})).body.ok).toBe(true);
  expect(sent('cf-access-client-secret')).toEqual([renewed]);
  const refusal = { error: { message: `No access with ${planted}`, type: 'invalid_request_error' } };
  upstream.always(reply(403, JSON.stringify(refusal), { 'content-type': 'application/json' }));
  const configurations = { custom_host: upstream.openaiHost, custom_headers: { 'X-Access-Token': planted } };
  const tried = await admin.post('/integrations/test', { ai_provider_id: 'openai', key: 'sk-0123456789', configurations });
  expect(sent('x-access-token')).toEqual([planted]);
  expect(tried.body.ok).toBe(false);
  expect(JSON.stringify(tried.body)).toContain('No access with ***');
  seen.push(tried.body);
});

it('integration headers: the built-in echo provider does not return them', async () => {
  const reply = await ask('/proxy/some/route', '@echoing');
  expect((await reply.json()).headers).toMatchObject({ 'x-team': 'a' });
});

it('integration headers: no reply, log, record or file contains them', async () => {
  const { admin, dataDir } = gateway;
  const audit = '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z';
  for (const path of [`/integrations/${integration()}`, '/providers/guarded', '/logs', audit]) {
    const { status, body } = await admin.get(path);
    expect(status, path).toBe(200);
    seen.push(body);
  }
  seen.push(gateway.output());
  expect(JSON.stringify(seen)).toContain('****3210');
  expect(JSON.stringify(seen)).not.toContain(mark);
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(100);
  for (const file of files) {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    expect(bytes.includes(mark), file).toBe(false);
  }
});
