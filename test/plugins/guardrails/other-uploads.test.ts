import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const contains = { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true };
const passing = { 'default.contains': { words: ['forbidden'], operator: 'none', failOnError: false }, deny: true };

const named = (name: string) => `content-disposition: form-data; name="${name}"`;
const part = (header: string, body: string) => `--X\r\n${header}\r\n\r\n${body}\r\n`;
const formOf = (...parts: readonly string[]) => `${parts.join('')}--X--\r\n`;
const isForm = 'multipart/form-data; boundary=X';

interface Call {
  readonly type?: string;
  readonly method?: string;
  readonly guardrail?: JsonObject;
  readonly formBytesMax?: number;
}

/** Sends a body through a guardrail. Resolves with status and reply, and the number of calls to the provider. */
async function send(
  path: string,
  body: string | Buffer,
  { type = isForm, method, guardrail = contains, formBytesMax }: Call = {},
) {
  const gateway = createHarness(formBytesMax === undefined ? {} : { formBytesMax });
  gateway.script(replyWith(200, { id: 'x', text: 'fine', data: [] }));
  const headers = {
    'content-type': type,
    'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: [guardrail] }),
  };
  const [to, query] = path.split('?');
  const sink = await gateway.send({
    path: to as string,
    ...(query === undefined ? {} : { query }),
    ...(method === undefined ? {} : { method }),
    headers,
    body: Buffer.from(body as string),
  });
  return { status: sink.status, text: sink.text, calls: gateway.calls.length };
}

const related = '--X\r\ncontent-type: application/json\r\n\r\n{}\r\n--X\r\ncontent-type: text/plain\r\n\r\nfine\r\n--X--\r\n';
const onePart = formOf(part(`${named('data')}; filename="blob"`, 'fine'));
const json = 'application/json';
const bytes = 'application/octet-stream';

describe('uploads that no guardrail can read', () => {
  it.each<[string, string, Call]>([
    ['/v1/uploads', '{"filename":"a.txt"}', { type: json }],
    ['/v1/uploads/u/parts', onePart, {}],
    ['/v1/proxy/UPLOADS/u/parts', onePart, {}],
    ['/v1/proxy/x%2Fuploads/u/parts', onePart, {}],
    ['/v1/proxy/uploads;x/u/parts', onePart, {}],
    ['/openai/v1/uploads/u/parts', onePart, {}],
    ['/v1/uploads/u/complete', '{"part_ids":["a"]}', { type: json }],
    ['/upload/v1beta/files', '{"file":{}}', { type: json }],
    ['/upload/v1beta/files?upload_id=1', 'fine', { type: bytes }],
    ['/upload/v1beta/files?upload_id=1', 'fine', { type: bytes, method: 'PUT' }],
    ['/upload/v1beta/fileSearchStores/a:uploadToFileSearchStore', 'fine', { type: bytes }],
    ['/v1/proxy/upload/v1beta/files', related, { type: 'multipart/related; boundary=X' }],
    ['/v1/proxy/files', related, { type: 'multipart/mixed; boundary=X' }],
    ['/v1/proxy/files', 'fine', { type: bytes }],
    ['/v1/proxy/files', '{"content":"fine"}', { type: json }],
    ['/v1/files/import', '{"content_url":"https://files.example/a"}', { type: json }],
    ['/v1/accounts/a/datasets/d:getUploadEndpoint', '{}', { type: json }],
  ])('%s is denied with the reason and the remedy, and passes if errors pass', async (path, body, call) => {
    const denied = await send(path, body, call);
    expect(denied).toMatchObject({ status: 446, calls: 0 });
    expect(denied.text).toContain('Upload it whole with POST /files, or set failOnError of the check to false');
    expect(await send(path, body, { ...call, guardrail: passing })).toMatchObject({ status: 200, calls: 1 });
  });

  it.each<[string, string]>([
    ['/v1/vector_stores/v/files', '{"file_id":"file-1"}'],
    ['/v1/containers/c/files', '{"file_id":"file-1"}'],
    ['/v1/vector_stores', '{"name":"a"}'],
  ])('%s names files by id and passes', async (path, body) => {
    expect(await send(path, body, { type: json })).toMatchObject({ status: 200, calls: 1 });
  });

  it('a form without a file is denied, because the file follows at another address', async () => {
    const denied = await send('/v1/proxy/files', formOf(part(named('file_name'), 'a.txt')));
    expect(denied).toMatchObject({ status: 446, calls: 0 });
    expect(denied.text).toContain('Send the file as a part with a filename');
  });

  it('the denial of a form above FORM_BUFFER_MAX names the setting and the order of fields', async () => {
    const large = part(`${named('file')}; filename="a.jsonl"`, 'fine\n'.repeat(40_000));
    const denied = await send('/v1/files', formOf(large, part(named('purpose'), 'batch')), { formBytesMax: 100_000 });
    expect(denied).toMatchObject({ status: 446, calls: 0 });
    expect(denied.text).toContain('send POST /files with the field purpose=batch before the file');
    expect(denied.text).toContain('raise FORM_BUFFER_MAX');
  });

  it.each(['anthropic', 'fireworks-ai'])(
    'a batch for %s is rejected, because no batch of this file is created',
    async (provider) => {
      const gateway = createHarness();
      const config = { provider, api_key: 'k', fireworks_account_id: 'a', input_guardrails: [contains] };
      const headers = {
        'content-type': isForm,
        'anthropic-version': '2023-06-01',
        'x-svc-config': JSON.stringify(provider === 'anthropic' ? { ...config, fireworks_account_id: undefined } : config),
      };
      const body = formOf(part(named('purpose'), 'batch'), part(`${named('file')}; filename="a.jsonl"`, 'a forbidden word'));
      const sink = await gateway.send({ path: '/v1/files', headers, body: Buffer.from(body) });
      expect([sink.status, gateway.calls.length]).toEqual([400, 0]);
      expect(sink.text).toContain(`purpose: ${provider} creates no batches of its files`);
    },
  );

  it('the denial of a form that parsers read in different ways has the reason', async () => {
    const denied = await send('/v1/files', formOf(part('content-type: text/plain', 'fine')));
    expect(denied.status).toBe(446);
    expect(denied.text).toContain('the header of part 1 needs one content-disposition with one name');
  });
});

describe('text files in forms of every path are read', () => {
  const file = (text: string) => formOf(part(`${named('files[]')}; filename="SKILL.md"`, text));
  it.each([
    '/v1/skills',
    '/v1/containers/c/files',
    '/v1/proxy/FILES',
    '/v1/proxy/x%2Ffiles',
    '/v1/proxy/files;x=1',
    '/v1/proxy/files%20',
    '/v1/libraries/l/documents',
    '/v1/accounts/a/datasets/d:upload',
  ])('%s', async (path) => {
    expect(await send(path, file('a forbidden word'))).toMatchObject({ status: 446, calls: 0 });
    expect(await send(path, file('fine'))).toMatchObject({ status: 200, calls: 1 });
  });

  it.each(['/v1/images/edits', '/v1/proxy/images/edits'])('%s: a prompt that is sent as a file', async (path) => {
    const fields = [part(named('model'), 'gpt-image-1'), part(`${named('image')}; filename="a.png"`, '\x89PNG')];
    const prompt = (text: string) => formOf(...fields, part(`${named('prompt')}; filename=""`, text));
    expect(await send(path, prompt('a forbidden word'))).toMatchObject({ status: 446, calls: 0 });
    expect(await send(path, prompt('fine'))).toMatchObject({ status: 200, calls: 1 });
  });

  it('a file in a form cannot be redacted, and is not part of a text whose form a check demands', async () => {
    const form = formOf(part(named('prompt'), 'one two'), part(`${named('file')}; filename="a.srt"`, 'ann@example.com'));
    const path = '/v1/audio/transcriptions';
    expect((await send(path, form, { guardrail: { 'svc.pii': { redact: true }, deny: true } })).status).toBe(446);
    expect((await send(path, form, { guardrail: { 'default.wordCount': { maxWords: 2 }, deny: true } })).status).toBe(200);
  });
});

describe('every name of a file that a parser could read is checked:', () => {
  it.each([
    `filename="a.bin"; filename*=UTF-8''forbidden.txt`,
    `filename*=UTF-8''forbidd%65n.txt; filename="a.bin"`,
    `filename="forb\\idden.txt"`,
    'filename="forb%69dden.txt"',
    'filename="a"; filename="forbidden"',
    'filename*0="forb"; filename*1="idden"',
  ])('%s', async (names) => {
    expect((await send('/v1/files', formOf(part(`${named('file')}; ${names}`, 'fine')))).status).toBe(446);
  });

  it('names that clients for .NET send twice pass, and either makes a file a text', async () => {
    const form = (names: string, text: string) => formOf(part(`${named('file')}; ${names}`, text));
    const twice = `filename=caf.txt; filename*=utf-8''caf%C3%A9.txt`;
    expect((await send('/v1/files', form(twice, 'fine'))).status).toBe(200);
    const isBinary = '\r\ncontent-type: application/octet-stream';
    // It is no UTF-8.
    const latin = (names: string) => Buffer.from(form(names, 'forbidden caf\xe9'), 'latin1');
    expect((await send('/v1/files', latin(`filename*=utf-8''a.txt; filename=a.bin${isBinary}`))).status).toBe(446);
    expect((await send('/v1/files', latin(`filename=a.bin${isBinary}`))).status).toBe(200);
  });
});
