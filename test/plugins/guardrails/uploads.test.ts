import { describe, expect, it } from 'vitest';
import type { RequestBody } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { unescapeSteps } from '../../../plugins/guardrails/upload-texts.ts';

interface File {
  readonly text: string | Uint8Array;
  readonly name?: string;
  readonly type?: string;
  readonly fields?: readonly (readonly [string, string])[];
  /** True: the fields follow the file, as the OpenAI SDK for JavaScript sends them. */
  readonly fieldsLast?: true;
}

const contains = (more: JsonObject = {}, actions: JsonObject = { deny: true }) => ({
  'default.contains': { words: ['forbidden'], operator: 'none', ...more },
  ...actions,
});

/** Uploads a file through a config. Resolves with the reply, and the bytes that the provider got; null if it was not called. */
async function upload(file: File, guardrail: JsonObject, options: { path?: string; gateway?: Harness } = {}) {
  const gateway = options.gateway ?? createHarness();
  const { fields = [['purpose', 'user_data']] } = file;
  const form = new FormData();
  const addFields = () => {
    for (const [name, value] of fields) form.append(name, value);
  };
  if (!file.fieldsLast) addFields();
  form.append('file', new Blob([file.text as string], { type: file.type ?? 'application/octet-stream' }), file.name ?? 'a.bin');
  if (file.fieldsLast) addFields();
  const encoded = new Response(form);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  const sent: Buffer[] = [];
  const script: Script = async (call, handler) => {
    const { body } = call;
    sent.push(Buffer.from(body instanceof Uint8Array ? body : await collected(body as RequestBody)));
    return replyWith(200, { id: 'file-1', object: 'file' })(call, handler);
  };
  gateway.script(script);
  const sink = await gateway.send({
    path: options.path ?? '/v1/files',
    headers: {
      'content-type': encoded.headers.get('content-type') as string,
      'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: [guardrail] }),
    },
    body: bytes,
  });
  return { sink, isWhole: sent[0]?.equals(bytes) ?? null };
}

function collected(body: RequestBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    body.pipe(
      {
        onData: (chunk) => chunks.push(Buffer.from(chunk)) > 0,
        onEnd: () => resolve(Buffer.concat(chunks)),
        onError: reject,
      },
      100_000_000,
    );
  });
}

const batch = [['purpose', 'batch']] as const;
const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
const line = '{"messages":[{"role":"user","content":"a\\u0020forb\\u0069dden\\nword"}]}';

const ofBatch: [string, File, JsonObject] = [
  'lines of a batch, which are read when it is created',
  { text: 'forbidden', fields: batch },
  contains(),
];

describe.each(['/v1/files', '/v1/proxy/files'])('guardrails of requests on uploads to %s', (path) => {
  it.each<[string, File]>([
    ['plain text', { text: 'a forbidden word' }],
    ['text in UTF-16', { text: utf16('a forbidden word'), name: 'a.txt' }],
    ['text in UTF-16 without a mark', { text: Buffer.from('a forbidden word', 'utf16le') }],
    ['a text file with bytes that are no UTF-8', { text: Buffer.from('caf\xe9 forbidden', 'latin1'), name: 'a.md' }],
    ['lines of JSON with escapes', { text: `${line}\n${line}`, name: 'train.jsonl', fields: [['purpose', 'fine-tune']] }],
    ['a name', { text: 'x', name: 'forbidden.pdf' }],
    ['a file before its fields', { text: 'a forbidden word', fieldsLast: true }],
    ['a file with two purposes', { text: 'forbidden', fields: [...batch, ['purpose', 'user_data']] }],
    // A provider may have no purposes.
    ...(path === '/v1/files' ? [] : [['a batch that passes through', { text: 'forbidden', fields: batch }] as [string, File]]),
  ])('deny %s', async (_name, file) => {
    const { sink, isWhole } = await upload(file, contains(), { path });
    expect([sink.status, isWhole]).toEqual([446, null]);
  });

  it.each<[string, File, JsonObject]>([
    ['a text that passes', { text: 'harmless' }, contains()],
    ['a file that is no text', { text: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), type: 'image/png' }, contains()],
    ...(path === '/v1/files' ? [ofBatch] : []),
    ['a text without the form that a check demands', { text: 'x' }, { 'default.endsWith': { suffix: '?' }, deny: true }],
    ['a denied text if nothing denies', { text: 'forbidden' }, contains({}, {})],
  ])('send the bytes of %s', async (_name, file, guardrail) => {
    const { sink, isWhole } = await upload(file, guardrail, { path });
    expect([sink.status < 300, isWhole]).toEqual([true, true]);
  });

  it('deny what a check would replace, because the file is sent unchanged', async () => {
    const redacts = { 'svc.pii': { redact: true } };
    expect((await upload({ text: 'write to ann@example.com' }, redacts, { path })).sink.status).toBe(446);
    expect((await upload({ text: 'harmless' }, redacts, { path })).sink.status).toBe(200);
  });

  it('deny a form above FORM_BUFFER_MAX, unless errors pass or its first fields state a batch', async () => {
    const text = 'harmless '.repeat(20_000);
    const send = (file: Partial<File>, more: JsonObject = {}) =>
      upload({ text, ...file }, contains(more), { path, gateway: createHarness({ formBytesMax: 100_000 }) });
    expect((await send({})).sink.status).toBe(446);
    expect(await send({}, { failOnError: false })).toMatchObject({ sink: { status: 200 }, isWhole: true });
    const ofBatch = await send({ fields: batch });
    expect([ofBatch.sink.status, ofBatch.isWhole]).toEqual(path === '/v1/files' ? [200, true] : [446, null]);
  });
});

it('reads escapes of JSON across the steps in which a large file is read', async () => {
  const file = { text: `[${'"\\n\\u0041,",'.repeat(60_000)}"forb\\u0069dden"]`, name: 'a.json' };
  expect((await upload(file, contains())).sink.status).toBe(446);
});

it('passes the file to a provider with another form of uploads', async () => {
  const gateway = createHarness({ providers: { one: 'cohere' } });
  const { sink, isWhole } = await upload({ text: 'harmless', fields: [['purpose', 'fine-tune']] }, contains(), { gateway });
  expect([sink.status, isWhole]).toEqual([200, false]);
  expect((await upload({ text: 'forbidden', fields: [['purpose', 'fine-tune']] }, contains(), { gateway })).sink.status).toBe(
    446,
  );
});

it('reads escapes of JSON in steps of one size, also without commas and line ends', () => {
  const text = `["${'\\u0041\\\\\\"'.repeat(100_000)}"]`;
  const steps = unescapeSteps(text);
  let count = 0;
  let next = steps.next();
  for (; !next.done; next = steps.next()) count++;
  expect([count, next.value === `["${'A\\"'.repeat(100_000)}"]`]).toEqual([4, true]);
});
