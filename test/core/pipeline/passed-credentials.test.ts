import { expect, it } from 'vitest';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const azure = { 'x-svc-azure-resource-name': 'r', 'x-svc-azure-deployment-id': 'd', 'x-svc-azure-api-version': 'v1' };

it.each([
  ['google', {}, 'x-goog-api-key', 'authorization', 'Bearer k'],
  ['azure-openai', azure, 'api-key', 'authorization', 'Bearer k'],
  ['anthropic', {}, 'x-api-key', 'authorization', 'bearer k'],
  ['openai', {}, 'authorization', 'x-api-key', 'k'],
])('pass-through to %s: the credential of the caller is sent in one header', async (provider, settings, own, given, value) => {
  const { send, calls, script, key } = createHarness();
  script(replyWith(200, {}));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': provider, ...settings, [given]: value };
  expect((await send({ path: '/v1/other/route', headers, body: { a: 1 } })).status).toBe(200);
  const sent = calls[0]?.headers ?? [];
  expect([findHeader(sent, own), findHeader(sent, given)]).toEqual([own === 'authorization' ? 'Bearer k' : 'k', undefined]);
});

it('pass-through: a second credential of the caller passes', async () => {
  const { send, calls, script, key } = createHarness();
  script(replyWith(200, {}));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'openai', authorization: 'Bearer k', 'x-api-key': 'other' };
  await send({ path: '/v1/other/route', headers, body: { a: 1 } });
  expect(findHeader(calls[0]?.headers ?? [], 'x-api-key')).toBe('other');
});

it.each([
  ['svc_session=a', undefined],
  ['svc_sign_in=svc_browser_a; svc_session=b', undefined],
  ['theme=dark; __Host-svc_session=a;__Host-svc_sign_in=b; lang=de', 'theme=dark; lang=de'],
  ['theme=svc_session; svc_session_of_other=a', 'theme=svc_session; svc_session_of_other=a'],
])('pass-through and forward_headers: the cookies of this service are not sent, the others are (%s)', async (cookie, sent) => {
  const { send, calls, script, key } = createHarness();
  for (let i = 0; i < 2; i++) script(replyWith(200, {}));
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'openai', authorization: 'Bearer k', cookie };
  await send({ path: '/v1/other/route', headers, body: { a: 1 } });
  await send({ headers: { ...headers, 'x-svc-forward-headers': 'cookie' }, body: { model: 'm', messages: [] } });
  expect(calls.map((call) => findHeader(call.headers, 'cookie'))).toEqual([sent, sent]);
});

it.each([
  ['?key=KEY', ''],
  ['?a=1&key=KEY&b=%41', '?a=1&b=%41'],
  ['?api-key=%73vc_REST', ''],
  ['?key=AIzaOfTheClient', '?key=AIzaOfTheClient'],
])('pass-through: a key of the gateway in the query %s is not sent', async (query, sent) => {
  const { send, calls, script, key } = createHarness();
  script(replyWith(200, {}));
  const path = `/v1/other/route${query.replace('KEY', key).replace('REST', key.slice(4))}`;
  await send({ method: 'GET', path, headers: { 'x-svc-api-key': key, 'x-svc-provider': '@one' }, body: '' });
  expect(calls[0]?.path).toBe(`/v1/other/route${sent}`);
});
