import { expect, it } from 'vitest';
import type { ProviderAdapter } from '../../../../core/contract/provider/provider.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../../core/contract/values/http/http.ts';
import { openSteps, type StepOptions } from '../../../../core/pipeline/attempt/step-services.ts';
import { createBuilder } from '../../../../core/pipeline/target/build-target.ts';
import { providers } from '../../../../core/providers/index.ts';

/** Steps whose store replies with this status. */
const stepsOver = (status: number, resolved = {} as StepOptions['resolved'], sent: HeaderList[] = [], data = 'line') => {
  const sender: StepOptions['sender'] = {
    send(call, handler) {
      sent.push(call.headers);
      queueMicrotask(() => {
        handler.onHead(status, []);
        handler.onData(Buffer.from(data));
        handler.onEnd();
      });
      return { resume: () => {}, abort: () => {} };
    },
  };
  return openSteps({
    resolved,
    call: { timeouts: {} } as StepOptions['call'],
    sender,
    ownStore: sender,
    countTokens: async () => 0,
    sign: (_call, timeouts) => timeouts,
    caller: { organisationId: 'o', workspaceId: 'w', keyId: 'k', userId: null } as StepOptions['caller'],
    isLeft: () => false,
    body: async function* () {},
  });
};

it.each([
  ['read where it is there', 200, 'line'],
  ['said not to be there where the store says so', 404, 'not_found'],
  ['not said to be away where it is the store that is', 503, 'unavailable'],
])('step services: a file of the service is %s', async (_, status, expected) => {
  const read = async () => {
    let text = '';
    for await (const chunk of stepsOver(status).services.ownFile('svc_file_1')) text += Buffer.from(chunk).toString();
    return text;
  };
  expect(await read().catch(({ code }) => code)).toBe(expected);
});

it('step services: credential headers of an integration go to its own host only, not to its storage host', async () => {
  const { adapterOf, build } = createBuilder({
    providers: providers as ReadonlyMap<string, ProviderAdapter>,
    parseBaseUrl: (url) => ({ origin: new URL(url).origin, path: '' }),
  });
  const headers = { 'x-token': 'planted', 'x-team': 'a' };
  const resolved = build(
    adapterOf('openai'),
    'one',
    { custom_host: 'https://own.example' },
    { api_key: new Secret('sk') },
    headers,
  );
  const sent: HeaderList[] = [];
  const { services } = stepsOver(200, resolved, sent);
  await services.send({ method: 'GET', path: '/files' });
  await services.send({ method: 'GET', path: '/files', origin: 'https://own.example' });
  await services.send({ method: 'GET', path: '/files', origin: 'https://storage.example' });
  const all = ['authorization', 'Bearer sk', 'x-token', 'planted', 'x-team', 'a'];
  expect(sent).toEqual([all, all, ['authorization', 'Bearer sk', 'x-team', 'a']]);
});

it('step services: a header of an exchange replaces the header of the target by name, not a header whose name is its value', async () => {
  const resolved = { origin: 'https://own.example', basePath: '', headers: ['x-team', 'a', 'accept', 'json'] } as unknown;
  const sent: HeaderList[] = [];
  const { services } = stepsOver(200, resolved as StepOptions['resolved'], sent);
  await services.send({ method: 'GET', path: '/files', headers: ['accept', 'text', 'x-kind', 'x-team'] });
  expect(sent).toEqual([['accept', 'text', 'x-kind', 'x-team', 'x-team', 'a']]);
});

it('step services: replies and errors with too many values are not parsed', async () => {
  const data = `{"error":{"message":"own text"},"a":[${'{},'.repeat(400_000)}{}]}`;
  const adapter = {
    id: 'one',
    error: (_status: number, body: unknown) => new GatewayError('upstream_invalid', { message: String(body) }),
  };
  const resolved = { adapter, origin: 'https://own.example', basePath: '', headers: [] } as unknown as StepOptions['resolved'];
  const ok = stepsOver(200, resolved, [], data).services;
  const reply = await ok.send({ method: 'GET', path: '/files' });
  await expect(reply.json()).rejects.toMatchObject({ code: 'upstream_invalid' });
  const failed = stepsOver(400, resolved, [], data).services;
  expect(await failed.error(await failed.send({ method: 'GET', path: '/files' }))).toMatchObject({
    message: expect.stringContaining('one replied with status 400'),
  });
});
