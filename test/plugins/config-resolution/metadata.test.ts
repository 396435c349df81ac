import { describe, expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import { createHarness, type Harness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: '@one/gpt-5', messages: [] };
/** As received: one character per byte of the header. */
const asBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

describe('the metadata header', () => {
  it.each([
    ['UTF-8', asBytes('{"name":"Zoë 😀"}'), 'Zoë 😀'],
    ['latin1', '{"name":"Zoë"}', 'Zoë'],
    ['escapes', '{"name":"Zo\\u00eb"}', 'Zoë'],
  ])('is recorded correctly in %s', async (_what, header, name) => {
    const gateway = createHarness();
    expect((await gateway.send({ body, headers: { 'x-svc-metadata': header } })).status).toBe(200);
    expect(gateway.records[0]?.metadata).toEqual({ name });
  });

  it('is overridden by the metadata of the key', async () => {
    const defaults = { configSlug: null, metadata: { team: 'red' }, allowConfigOverride: true };
    const gateway = createHarness({ key: { defaults } });
    await gateway.send({ body, headers: { 'x-svc-metadata': '{"team":"blue","stage":"test"}' } });
    expect(gateway.records[0]?.metadata).toEqual({ team: 'red', stage: 'test' });
  });

  it('gets the user of the body by default', async () => {
    const gateway = createHarness();
    await gateway.send({ body: { ...body, user: 'ann' } });
    await gateway.send({ body: { ...body, user: 'ann' }, headers: { 'x-svc-metadata': '{"_user":"bob"}' } });
    expect(gateway.records.map((record) => record.metadata)).toEqual([{ _user: 'ann' }, { _user: 'bob' }]);
  });

  it('converts numbers and booleans to text', async () => {
    const gateway = createHarness();
    await gateway.send({ body, headers: { 'x-svc-metadata': '{"a":1,"b":true,"c":0.5}' } });
    expect(gateway.records).toMatchObject([{ metadata: { a: '1', b: 'true', c: '0.5' } }]);
  });

  it('leaves out nulls, with which clients send values that are not set', async () => {
    const gateway = createHarness();
    await gateway.send({ body: { ...body, user: 'ann' }, headers: { 'x-svc-metadata': '{"_user":null,"a":"1"}' } });
    expect(gateway.records[0]?.metadata).toEqual({ _user: 'ann', a: '1' });
  });

  it.each([
    ['no JSON', '{a}', 'expected a JSON object'],
    ['a list', '[]', 'expected a JSON object'],
    ['an object', '{"n":{}}', 'n: expected a string, a number or a boolean'],
    ['a long value', `{"n":"${'x'.repeat(129)}"}`, 'n: expected at most 128 characters'],
    ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, '']))), 'at most 50 keys'],
  ])('is rejected with a reason for %s', async (_what, header, message) => {
    const gateway = createHarness();
    const reply = await gateway.send({ body, headers: { 'x-svc-metadata': header } });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ error: { param: 'x-svc-metadata', message: expect.stringContaining(message) } });
    expect(gateway.calls).toHaveLength(0);
  });
});

it('config header: an inline config is read as UTF-8', async () => {
  const gateway = createHarness();
  const config = asBytes('{"provider":"@one","override_params":{"user":"Zoë"}}');
  await gateway.send({ body: { ...body, model: 'gpt-5' }, headers: { 'x-svc-config': config } });
  expect(JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString('utf8'))).toMatchObject({ user: 'Zoë' });
});

describe('metadata of key and workspace', () => {
  const settings = { blockInlineConfig: false, debugLog: true, cacheTtlSeconds: null };

  function inWorkspace(changes: Partial<WorkspaceDocument>, options: Parameters<typeof createHarness>[0] = {}): Harness {
    const gateway = createHarness(options);
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, ...changes });
    return gateway;
  }

  it('prefers the workspace over the key, and the key over the request', async () => {
    const defaults = { configSlug: null, metadata: { a: 'key', b: 'key' }, allowConfigOverride: true };
    const gateway = inWorkspace({ metadata: { a: 'workspace' } }, { key: { defaults } });
    await gateway.send({ body });
    await gateway.send({ body, headers: { 'x-svc-metadata': '{"a":"request","b":"request","c":"request"}' } });
    expect(gateway.records.map((record) => record.metadata)).toEqual([
      { a: 'workspace', b: 'key' },
      { a: 'workspace', b: 'key', c: 'request' },
    ]);
  });

  it('follows a change of the workspace', async () => {
    const gateway = inWorkspace({ metadata: { stage: 'test' } });
    await gateway.send({ body });
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, metadata: { stage: 'live' } });
    await gateway.send({ body });
    expect(gateway.records.map((record) => record.metadata)).toEqual([{ stage: 'test' }, { stage: 'live' }]);
  });

  const key = { userId: 'u-1', userName: 'Ann Lee' };
  const sent = { 'x-svc-metadata': '{"_user":"bob"}' };

  it.each([
    [false, false, {}, {}],
    [false, false, sent, { _user: 'bob' }],
    [true, false, {}, { _user: 'Ann Lee' }],
    [true, false, sent, { _user: 'Ann Lee' }],
    [true, true, {}, { _user: 'Ann Lee' }],
    [true, true, sent, { _user: 'bob' }],
  ])('metadata: the owner of a user key, with setting %s, override %s, sent %j', async (on, override, headers, metadata) => {
    const both = { ...settings, userKeyMetadata: on, userKeyMetadataOverride: override };
    const gateway = inWorkspace({ settings: both }, { key });
    await gateway.send({ body, headers });
    expect(gateway.records[0]?.metadata).toEqual(metadata);
  });
});
