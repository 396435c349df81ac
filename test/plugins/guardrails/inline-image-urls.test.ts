import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const png = Buffer.from('iVBORw0KGgo=', 'base64');
type Reply = { status?: number; type?: string; body?: Uint8Array } | 'never' | 'blocked';

async function ask(parameters: JsonObject, body: JsonObject, reply: Reply = {}, path = '/v1/chat/completions', deny = true) {
  const urls: string[] = [];
  const gateway = createHarness({
    fetch({ url }) {
      urls.push(url);
      if (reply === 'blocked') return Promise.reject(new GatewayError('invalid_custom_host'));
      if (reply === 'never') return new Promise(() => {});
      const { status = 200, type = 'image/png', body: bytes = png } = reply;
      return Promise.resolve({ status, headers: ['content-type', type], body: bytes });
    },
  });
  const config = {
    provider: path.endsWith('messages') ? '@claude' : '@one',
    input_mutators: [{ 'default.inlineImageUrls': parameters, deny }],
  };
  const sink = await gateway.send({ path, headers: { 'x-svc-config': JSON.stringify(config) }, body: { model: 'm', ...body } });
  const check = (JSON.parse(sink.text) as { hook_results?: { before_request_hooks: { checks: JsonObject[] }[] } }).hook_results
    ?.before_request_hooks[0]?.checks[0];
  return {
    status: sink.status,
    urls,
    check,
    sent: gateway.calls[0] && (JSON.parse(String(gateway.calls[0].body)) as JsonObject),
  };
}

const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } });
const chat = (...parts: JsonObject[]) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, ...parts] }] });
const inlined = `data:image/png;base64,${png.toString('base64')}`;

describe('default.inlineImageUrls', () => {
  it('replaces each remote image of a chat completion, fetched once', async () => {
    const url = 'https://i.example.com/a.png';
    const { status, urls, check, sent } = await ask({}, chat(image(url), image(url), image(inlined)));
    expect([status, urls]).toEqual([200, [url]]);
    const changed = { type: 'image_url', image_url: { url: inlined, detail: 'low', mime_type: 'image/png' } };
    expect(sent).toMatchObject(chat(changed, changed, image(inlined)));
    expect(check?.data).toEqual({ imagesConverted: 1, errors: [], provider: 'openai' });
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      '/v1/responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://i.example.com/a' }] }] },
      { input: [{ content: [{ type: 'input_image', image_url: inlined }] }] },
    ],
    [
      '/v1/messages',
      {
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://i.example.com/a' } }] }],
      },
      { messages: [{ content: [{ source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } }] }] },
    ],
  ])('%s', async (path, body, expected) => {
    expect((await ask({}, body, {}, path)).sent).toMatchObject(expected);
  });

  it.each<[string, JsonObject, Reply, number]>([
    ['an error of the host', {}, { status: 404 }, 200],
    ['an error of the host, failOnError', { failOnError: true }, { status: 404 }, 446],
    ['another type, failOnError', { failOnError: true }, { type: 'text/html' }, 446],
    ['SVG, failOnError', { failOnError: true }, { type: 'image/svg+xml' }, 446],
    ['too large, failOnError', { failOnError: true, maxSizeBytes: 4 }, {}, 446],
    ['late, failOnError', { failOnError: true, timeoutMs: 5 }, 'never', 446],
  ])('%s', async (_name, parameters, reply, status) => {
    const asked = await ask(parameters, chat(image('https://i.example.com/a.png')), reply);
    expect(asked.status).toBe(status);
    if (status === 200) expect(asked.sent).toMatchObject(chat(image('https://i.example.com/a.png')));
  });

  it.each([
    ['denies the request', {}, true, 446, 0],
    ['passes it without deny', {}, false, 200, 1],
    ['passes it if failOnError is false', { failOnError: false }, true, 200, 1],
  ])('an image at an address that may not be called: %s', async (_name, parameters, deny, status, sent) => {
    const url = 'http://169.254.169.254/latest/meta-data';
    const asked = await ask(parameters, chat(image(url)), 'blocked', undefined, deny);
    expect([asked.status, asked.sent ? 1 : 0]).toEqual([status, sent]);
    const message = '1 image at addresses that may not be called';
    expect(asked.check).toMatchObject({ verdict: false, error: { name: 'Check error', message } });
  });

  it('leaves requests to other providers alone', async () => {
    const { urls, check } = await ask({ providers: ['anthropic'] }, chat(image('https://i.example.com/a.png')));
    expect([urls, check?.verdict]).toEqual([[], true]);
  });

  it.each([['openai'], ['@one']])('providers: %s is a type, or a provider as the target names it', async (name) => {
    const { urls } = await ask({ providers: [name] }, chat(image('https://i.example.com/a.png')));
    expect(urls).toEqual(['https://i.example.com/a.png']);
  });
});
