import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import { realClock } from '../../../core/contract/values/time/clock.ts';
import { realTimers } from '../../../core/contract/values/time/timers.ts';
import { forwardedHeaders } from '../../../core/providers/index.ts';
import { createReplyCache } from '../../../core/reply-cache/reply-cache.ts';
import { createHarness, type Harness, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { base, simple, type Variant, variants } from '../../support/samples/cache-variants.ts';

const statusOf = async (gateway: Harness, { request }: Variant): Promise<string> =>
  `${(await gateway.send(request)).status} ${(await gateway.send(request)).header('x-svc-cache-status')}`;

it('cache keys: of over a thousand requests that differ in one aspect, none gets the reply of another', async () => {
  const gateway = createHarness();
  expect(variants.length).toBeGreaterThan(1_000);
  expect(new Set(variants.map(({ request }) => JSON.stringify(request))).size).toBe(variants.length);
  const shared: string[] = [];
  for (const { aspect, request } of variants) {
    const calls = gateway.calls.length;
    const reply = await gateway.send(request);
    if (gateway.calls.length !== calls + 1 || reply.header('x-svc-cache-status') !== 'MISS') {
      shared.push(`${aspect}: ${reply.status} ${reply.header('x-svc-cache-status')} ${reply.text.slice(0, 200)}`);
    }
  }
  expect(shared).toEqual([]);
});

it.each(forwardedHeaders)('cache keys: %s, which an adapter passes on, is compared', async (name) => {
  const gateway = createHarness();
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@claude', cache: simple }) };
  for (const value of ['a', 'b']) {
    const reply = await gateway.send({ headers: { ...headers, [name]: value }, body: { ...base, max_tokens: 5 } });
    expect(reply.header('x-svc-cache-status')).toBe('MISS');
  }
});

it('cache keys: each of these requests gets its own reply a second time', async () => {
  const gateway = createHarness();
  // One of each kind is enough. A kind is the name of the aspect without its number.
  const kinds = new Map(variants.map((variant) => [variant.aspect.replace(/\d+/g, ''), variant]));
  const different: string[] = [];
  for (const variant of kinds.values()) {
    const outcome = await statusOf(gateway, variant);
    if (outcome !== '200 HIT') different.push(`${variant.aspect}: ${outcome}`);
  }
  expect(different).toEqual([]);
});

it('cache keys: equal requests of other workspaces and organisations share nothing', async () => {
  const replies = createReplyCache({
    remote: null,
    clock: realClock,
    timers: realTimers,
    memoryBytesMax: 64 * 1024 * 1024,
    channels: [],
  });
  const request = {
    headers: { 'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'sk', cache: simple }) },
    body: base,
  };
  const first = createHarness({ replies });
  await first.send(request);
  const tenants = [{ workspaceId: randomUUID() }, { workspaceId: randomUUID(), organisationId: randomUUID() }];
  for (const key of tenants) {
    const other = createHarness({ replies, key });
    const ids = { organisationId: '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001', ...key };
    other.documents.set(`workspace ${key.workspaceId}`, {
      id: key.workspaceId,
      slug: 'w',
      defaultConfigSlug: null,
      metadata: {},
      ...ids,
    });
    const reply = await other.send(request);
    expect([reply.status, reply.header('x-svc-cache-status')]).toEqual([200, 'MISS']);
  }
  expect((await first.send(request)).header('x-svc-cache-status')).toBe('HIT');
});

it('cache keys: a reply that an earlier version of a saved guardrail has let pass is not served', async () => {
  const gateway = createHarness();
  const save = (version: number, rule: string) =>
    gateway.documents.set(`guardrail ${workspaceId}/g`, {
      ...{ id: '00000000-0000-4000-8000-000000000007', slug: 'g', versionId: `11111111-0000-4000-8000-00000000000${version}` },
      ...{ organisationId, workspaceId, secrets: null, actions: { deny: true } },
      checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
    });
  const config = JSON.stringify({ provider: '@one', cache: simple, output_guardrails: ['g'] });
  const send = () => gateway.send({ headers: { 'x-svc-config': config }, body: base });
  save(1, 'never said');
  const before = [await send(), await send()];
  expect(before.map((reply) => reply.header('x-svc-cache-status'))).toEqual(['MISS', 'HIT']);
  save(2, 'hello');
  const denied = await send();
  expect([denied.status, denied.header('x-svc-cache-status')]).toEqual([446, 'MISS']);
});

it.each(['', 'x-absent'])('cache keys: the request may forward other headers (%j) than its config', async (list) => {
  const gateway = createHarness();
  const config = JSON.stringify({ provider: '@one', forward_headers: ['x-tenant'], cache: simple });
  const headers = { 'x-svc-config': config, 'x-svc-request-timeout': '60000', 'x-tenant': 'a' };
  await gateway.send({ headers, body: base });
  const reply = await gateway.send({ headers: { ...headers, 'x-svc-forward-headers': list }, body: base });
  expect(reply.header('x-svc-cache-status')).toBe('MISS');
  expect(gateway.calls.map((call) => findHeader([...call.headers], 'x-tenant'))).toEqual(['a', undefined]);
});
