import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { fileKind } from '../../../plugins/guardrails/file-kind.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');
const pdf = latin(`%PDF-1.7\n1 0 obj${' '.repeat(64)}`);
const docx = latin(`PK\x03\x04\x14${'\0'.repeat(64)}`);
const png = latin('\x89PNG\r\n\x1a\n\0');
const largePng = latin(`\x89PNG\r\n\x1a\n${'\0'.repeat(64)}`);
const wav = latin(`RIFF\x24\0\0\0WAVEfmt ${'\0'.repeat(64)}`);

/** Sends a body through the check. Resolves with the status and the kinds of files that no check reads. */
async function send(path: string, body: JsonObject | Buffer, allow: readonly string[] = [], type = 'application/json') {
  const gateway = createHarness();
  gateway.script(
    replyWith(200, { id: 'x', text: 'x', choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], output: [] }),
  );
  const config = { provider: 'openai', api_key: 'k', input_guardrails: [{ 'svc.unreadFiles': { allow }, deny: true }] };
  const sink = await gateway.send({
    path,
    headers: { 'content-type': type, 'x-svc-config': JSON.stringify(config) },
    body,
  });
  const hooks = sink.status === 446 ? (JSON.parse(sink.text) as Hooks).hook_results.before_request_hooks : [];
  return { status: sink.status, unread: hooks[0]?.checks[0]?.data?.unread ?? [] };
}

interface Hooks {
  hook_results: { before_request_hooks: { checks: { data: { unread: string[] } | null }[] }[] };
}

const dataUrl = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;
const form = (name: string, filename: string, bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`--X\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`),
    bytes,
    Buffer.from('\r\n--X--\r\n'),
  ]);
const isForm = 'multipart/form-data; boundary=X';

describe('svc.unreadFiles fails for', () => {
  const chat = (part: JsonObject) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] });
  const responses = (part: JsonObject) => ({ model: 'm', input: [{ role: 'user', content: [part] }] });
  const converse = (part: JsonObject) => ({ messages: [{ role: 'user', content: [part] }] });
  const ollama = (images: string[]) => ({ model: 'm', messages: [{ role: 'user', content: 'x', images }] });
  const messages = (source: JsonObject) => ({
    ...{ model: 'm', max_tokens: 1 },
    messages: [{ role: 'user', content: [{ type: 'document', source }] }],
  });
  it.each<[string, string, JsonObject]>([
    ['document', '/v1/chat/completions', chat({ type: 'file', file: { file_data: dataUrl(pdf, 'application/pdf') } })],
    ['document', '/v1/chat/completions', chat({ type: 'file', file: { file_data: dataUrl(pdf, 'text/plain') } })],
    ['document', '/v1/responses', responses({ type: 'input_file', file_data: docx.toString('base64') })],
    ['document', '/v1/messages', messages({ type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') })],
    ['document', '/v1/proxy/x:generateContent', { contents: [{ parts: [{ inlineData: { data: pdf.toString('base64') } }] }] }],
    ['image', '/v1/chat/completions', chat({ type: 'image_url', image_url: { url: dataUrl(png, 'image/png') } })],
    ['audio', '/v1/chat/completions', chat({ type: 'input_audio', input_audio: { data: wav.toString('base64') } })],
    ['id', '/v1/responses', responses({ type: 'input_file', file_id: 'file-1' })],
    ['id', '/v1/responses', { model: 'm', input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs'] }] }],
    ['url', '/v1/responses', responses({ type: 'input_file', file_url: 'https://files.example/a.pdf' })],
    ['url', '/v1/chat/completions', chat({ type: 'image_url', image_url: { url: 'https://files.example/a.png' } })],
    ['url', '/v1/messages', messages({ type: 'url', url: 'https://files.example/a.pdf' })],
    ['document', '/v1/proxy/model/m/converse', converse({ document: { name: 'a', source: { bytes: pdf.toString('base64') } } })],
    ['url', '/v1/proxy/model/m/converse', converse({ document: { source: { s3Location: { uri: 's3://a/b' } } } })],
    ['image', '/v1/proxy/api/chat', ollama([largePng.toString('base64')])],
    ['image', '/v1/proxy/api/chat', ollama([dataUrl(png, 'image/png')])],
    ['document', '/v1/proxy/predictions', { input: { attachment: dataUrl(pdf, 'application/pdf') } }],
    ['document', '/v1/proxy/predictions', { input: { attachments: [dataUrl(pdf, 'text/plain')] } }],
    ['url', '/v1/proxy/predictions', { input: { image: 'https://files.example/a.png' } }],
    ['url', '/v1/proxy/predictions', { images: [{ url: 'https://files.example/a.png' }] }],
  ])('%s in %s', async (kind, path, body) => {
    expect(await send(path, body)).toEqual({ status: 446, unread: [kind] });
    const allowing = await send(path, body, ['image', 'audio', 'id', 'url']);
    expect(allowing.status === 446).toBe(kind === 'document');
  });

  it.each(['/v1/files', '/v1/proxy/files', '/v1/skills', '/v1/libraries/l/documents'])('files in forms to %s', async (path) => {
    expect(await send(path, form('file', 'a.txt', docx), ['image'], isForm)).toEqual({ status: 446, unread: ['document'] });
    expect(await send(path, form('file', 'a.png', png), ['image'], isForm)).toMatchObject({ status: 200 });
    expect(await send(path, form('file', 'a.txt', latin('\xfd7zXZ\0\0')), [], isForm)).toMatchObject({ unread: ['document'] });
    expect(await send(path, form('file', 'a.txt', Buffer.from('fine')), [], isForm)).toMatchObject({ status: 200 });
  });

  it('no text, no request without files, and no audio that is transcribed', async () => {
    const parts = [{ type: 'file', file: { file_data: dataUrl(Buffer.from('fine'), 'text/plain') } }];
    expect((await send('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: parts }] })).status).toBe(200);
    expect((await send('/v1/embeddings', { model: 'm', input: 'fine' })).status).toBe(200);
    expect((await send('/v1/embeddings', { model: 'm', input: 'fine', metadata: { data: 'hello' } })).status).toBe(200);
    const settings = { audio: { voice: 'v', format: 'wav' }, image: 'latest', input: { images: [], image: { toString: 1 } } };
    expect((await send('/v1/proxy/predictions', settings)).status).toBe(200);
    const edit = { model: 'm', prompt: 'x', images: [{ image_url: dataUrl(png, 'image/png') }] };
    expect((await send('/v1/images/edits', edit)).status).toBe(200);
    expect((await send('/v1/audio/transcriptions', form('file', 'a.wav', wav), [], isForm)).status).toBe(200);
  });
});

it('the kind of a file that states to be text is decided by its bytes too', () => {
  expect(fileKind(latin('BZh91AY&SY\x94$|\x0e\0\0\0\x81'), 'text/plain')).toBe('document');
  expect(fileKind(latin('(\xb5/\xfd\x04X'), 'text/plain')).toBe('document');
  expect(fileKind(latin('caf\xe9\r\n\tcr\xe8me'), 'text/plain')).toBe('text');
});

it.each<[string, string]>([
  ['document', 'bytes before\n%PDF-1.4'],
  ['document', '\xd0\xcf\x11\xe0\xa1\xb1'],
  ['document', '\x1f\x8b\x08'],
  ['document', '\0\x01\xff'],
  ['image', '\xff\xd8\xff\xe0'],
  ['image', 'RIFF\x01\0\0\0WEBPVP8 '],
  ['image', '\0\0\0\x18ftypheic'],
  ['audio', '\0\0\0\x18ftypmp42'],
  ['audio', '\xff\xfb\x90\0'],
  ['text', '\xff\xfea\0b\0'],
  ['text', 'a text'],
])('the kind of a file is %s if it begins with %j', (kind, bytes) => {
  expect(fileKind(latin(bytes), 'application/octet-stream')).toBe(kind);
});
