import { expect, it } from 'vitest';
import type { CapturedContent } from '../../../core/contract/plugin/record/content-capture.ts';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const base = {
  ...{ blockInlineConfig: false, debugLog: true, userKeyMetadata: false, userKeyMetadataOverride: false },
  cacheTtlSeconds: null,
};
const full = { request: true, response: true };
const errorAlone = { request: false, response: true };
const off = { 'x-svc-debug': 'false' };

it.each<[string, object, Record<string, string>, number, object | null]>([
  ['debug_log is 1', {}, {}, 200, full],
  ['debug_log is 1 and the request has x-svc-debug: false', {}, off, 200, null],
  ['the organisation ignores x-svc-debug', { ignoreDebugHeader: true }, off, 200, full],
  [
    'debug_log is 0 and x-svc-debug is ignored',
    { debugLog: false, ignoreDebugHeader: true },
    { 'x-svc-debug': 'true' },
    200,
    null,
  ],
  ['debug_log is 0', { debugLog: false }, {}, 400, null],
  ['error bodies are kept and the reply is a success', { debugLog: false, keepErrorBodies: true }, {}, 200, null],
  ['error bodies are kept and the reply is an error', { debugLog: false, keepErrorBodies: true }, {}, 400, errorAlone],
  ['error bodies are kept and the request has x-svc-debug: false', { debugLog: false, keepErrorBodies: true }, off, 400, null],
])('contents for logs if %s', async (_what, settings, headers, status, expected) => {
  const added: CapturedContent[] = [];
  const gateway = createHarness({ contents: { bodyBytesMax: 10_000, add: (content) => void added.push(content) } });
  const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
  gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings: { ...base, ...settings } });
  gateway.script(replyWith(status, status === 200 ? chatReply('hello') : { error: { message: 'wrong' } }));
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
  expect((await gateway.send({ body, headers: { 'x-svc-provider': '@one', ...headers } })).status).toBe(status);
  const found = added.map(({ requestHeaders, requestBody, reply }) => ({
    request: requestHeaders.length > 0 && requestBody?.length !== 0,
    response: reply.bytes > 0,
  }));
  expect(found).toEqual(expected === null ? [] : [expected]);
});

const model = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const sentTo = (provider: string) => ({ 'x-svc-provider': provider });
const asSent = { body: JSON.stringify(model), error: true };

it.each<[string, object, Record<string, string>, JsonObject | string, { body: string | null; error: boolean } | null]>([
  ['the body is not JSON', {}, sentTo('@one'), '{"model":', { body: '{"model":', error: true }],
  ['no provider is named', {}, {}, model, asSent],
  ['the config does not exist', {}, { 'x-svc-config': 'pc-none-1' }, model, asSent],
  ['the inline config is invalid', {}, { 'x-svc-config': '{"retry":7}' }, model, asSent],
  ['the body is not read', {}, { ...sentTo('@one'), 'content-type': 'text/plain' }, model, { body: null, error: true }],
  ['the request has x-svc-debug: false', {}, off, model, null],
  ['debug_log is 0', { debugLog: false }, {}, model, null],
  ['only errors are kept', { debugLog: false, keepErrorBodies: true }, {}, '{', { body: '', error: true }],
])(
  'contents of a request that is refused before its config is known, if %s',
  async (_what, settings, headers, body, expected) => {
    const added: CapturedContent[] = [];
    const gateway = createHarness({ contents: { bodyBytesMax: 10_000, add: (content) => void added.push(content) } });
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings: { ...base, ...settings } });
    expect((await gateway.send({ body, headers })).status).toBe(400);
    const found = added.map(({ requestBody, reply }) => ({
      body: requestBody === null ? null : Buffer.from(requestBody).toString(),
      error: Buffer.concat(reply.chunks).toString().includes('"error"'),
    }));
    expect(found).toEqual(expected === null ? [] : [expected]);
  },
);

it.each([
  ['its key is unknown', {}, { 'x-svc-api-key': 'svc_none' }, 401],
  ['its key has no workspace', { workspaceId: null }, {}, 403],
] as const)('no contents of a request if %s', async (_what, key, headers, status) => {
  const added: CapturedContent[] = [];
  const gateway = createHarness({ key, contents: { bodyBytesMax: 10_000, add: (content) => void added.push(content) } });
  expect((await gateway.send({ body: model, headers })).status).toBe(status);
  expect(added).toEqual([]);
});
