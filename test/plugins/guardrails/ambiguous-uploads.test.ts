import { describe, expect, it } from 'vitest';
import type { RequestBody } from '../../../core/contract/values/http/http.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const contains = { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true };

const part = (header: string, body: string) => `--X\r\n${header}\r\n\r\n${body}\r\n`;
const named = (name: string) => `content-disposition: form-data; name="${name}"`;
const file = (body: string, more = '') => part(`${named('file')}; filename="a.txt"${more}`, body);
const field = (name: string, value: string) => part(named(name), value);
const fileOfY = '--Y\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nforbidden\r\n--Y--\r\n';
const end = '--X--\r\n';
const asData = field('purpose', 'user_data');
const asBatch = field('purpose', 'batch');

/** Sends a form through a guardrail. Resolves with the reply, and the bytes that the provider got. */
async function send(
  form: string,
  { path = '/v1/files', type = 'multipart/form-data; boundary=X', formBytesMax = 10_000_000 } = {},
) {
  const gateway = createHarness({ formBytesMax });
  let sent = '';
  const script: Script = async (call, handler) => {
    const { body } = call;
    if (body instanceof Uint8Array) sent = Buffer.from(body).toString();
    else await piped(body as RequestBody, (chunk) => (sent += Buffer.from(chunk).toString()));
    return replyWith(200, { id: 'file-1', object: 'file' })(call, handler);
  };
  gateway.script(script);
  const sink = await gateway.send({
    path,
    headers: {
      'content-type': type,
      'x-svc-config': JSON.stringify({ provider: '@one', input_guardrails: [contains] }),
    },
    body: Buffer.from(form),
  });
  return { sink, sent };
}

/** Resolves at the end of the body, or with its error. */
function piped(body: RequestBody, onData: (chunk: Uint8Array) => unknown): Promise<Error | null> {
  return new Promise((resolve) => {
    const onChunk = (chunk: Uint8Array) => {
      onData(chunk);
      return true;
    };
    body.pipe({ onData: onChunk, onEnd: () => resolve(null), onError: resolve }, 100_000_000);
  });
}

describe.each(['/v1/files', '/v1/proxy/files'])('uploads to %s that a provider could read in another way are denied:', (path) => {
  it.each<[string, string, string?]>([
    ['a part that is no form-data', `${asData}${part('content-disposition: attachment; name="file"', 'forbidden')}`],
    ['a part without a disposition', `${asData}${part('content-type: text/plain', 'forbidden')}`],
    ['a part without a name', `${asData}${part('content-disposition: form-data', 'forbidden')}`],
    ['a part with two dispositions', `${asData}${file('x', `\r\n${named('file')}; filename="forbidden"`)}`],
    ['a part with two names', `${asBatch}${part(`${named('x')}; name="purpose"`, 'user_data')}${file('forbidden')}`],
    ['base64', `${asData}${file('Zm9yYmlkZGVu', '\r\ncontent-transfer-encoding: base64')}`],
    ['quoted-printable', `${asData}${file('f=6Frbidden', '\r\ncontent-transfer-encoding:\r\n quoted-printable')}`],
    [
      'a field in another charset',
      `${part(`${named('note')}\r\ncontent-type: text/plain; charset=base64`, 'forbidden')}${file('x')}`,
    ],
    ['text before the form', `${fileOfY}${asData}${file('x')}`],
    ['text after the form', `${asData}${file('x')}${end}${file('forbidden')}`],
    ['two boundaries', `${asData}${file(`\xff${fileOfY}`)}`, 'multipart/form-data; boundary=X; boundary=Y'],
    ['a purpose that is a list', `${asBatch}${field('purpose[]', 'user_data')}${file('forbidden')}`],
    ['a purpose that is a file', `${asBatch}${part(`${named('purpose')}; filename=""`, 'user_data')}${file('forbidden')}`],
    ['a field that is given twice', `${field('prompt', 'forbidden')}${field('prompt', 'x')}${asData}${file('x')}`],
  ])('%s', async (_name, form, type) => {
    const { sink, sent } = await send(form.endsWith(end) ? form : form + end, { path, ...(type === undefined ? {} : { type }) });
    expect([sink.status, sent]).toEqual([446, '']);
  });

  it('a form with other headers, empty parts and line ends around it is not ambiguous and passes', async () => {
    const more = '\r\ncontent-type: text/plain; charset=UTF-8\r\ncontent-transfer-encoding: binary\r\nx-more: 1';
    const form = `\r\n${asData}${field('empty', '')}${file('', more)}${file('fine', `; filename*=UTF-8''a.txt`)}${end}\r\n`;
    const { sink, sent } = await send(form, { path });
    expect([sink.status, sent]).toEqual([200, form]);
  });
});

it('above FORM_BUFFER_MAX, a part after the file of a batch does not reach the provider', async () => {
  const large = file('harmless\n'.repeat(40_000));
  const options = { formBytesMax: 100_000 };
  const last = await send(`${asBatch}${large}${end}`, options);
  expect([last.sink.status, last.sent.length]).toEqual([200, asBatch.length + large.length + end.length]);
  for (const further of [asData, field('expires_after[seconds]', '3600'), `${end}${asData}`]) {
    const { sent } = await send(`${asBatch}${large}${further}${end}`, options);
    expect(sent).not.toContain('3600');
    expect(sent).not.toContain('user_data');
  }
  for (const first of [`${field('purpose[]', 'user_data')}`, part(`${named('x')}; name="purpose"`, 'user_data'), file('x')]) {
    const { sink, sent } = await send(`${asBatch}${first}${large}${end}`, options);
    expect([sink.status, sent]).toEqual([446, '']);
  }
});

it.each(['/v1/proxy//files//', '/v1/proxy/v1/files/upload'])('files are read in uploads to %s', async (path) => {
  expect((await send(`${asData}${file('forbidden')}${end}`, { path })).sink.status).toBe(446);
});
