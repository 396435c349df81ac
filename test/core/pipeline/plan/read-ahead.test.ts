import { describe, expect, it } from 'vitest';
import type { DocumentReader } from '../../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { realClock } from '../../../../core/contract/values/time/clock.ts';
import { realTimers } from '../../../../core/contract/values/time/timers.ts';
import { createReplyCache } from '../../../../core/reply-cache/reply-cache.ts';
import { chatReply, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const other = { model: 'gpt-5', messages: [{ role: 'user', content: 'other' }] };

/** A gateway whose documents are loaded by the first look-up, and cannot be loaded while the control plane is away. */
function start(shared?: ReturnType<typeof newCache>) {
  const gateway = createHarness(shared ? { replies: shared } : {});
  const documents = gateway.services.documents as { get: DocumentReader['get'] };
  const loaded = new Map<string, unknown>();
  const state = { isAway: false };
  const stored = documents.get.bind(documents);
  documents.get = ((kind: never, id: string) => {
    const name = `${kind} ${id}`;
    if (kind !== 'provider' || loaded.has(name)) return loaded.get(name) ?? stored(kind, id);
    if (state.isAway) return Promise.reject(new GatewayError('unavailable'));
    loaded.set(name, stored(kind, id));
    return Promise.resolve(loaded.get(name));
  }) as never;
  return { ...gateway, state, names: () => [...loaded.keys()].map((name) => name.split('/').pop()) };
}

function newCache() {
  return createReplyCache({ remote: null, clock: realClock, timers: realTimers, memoryBytesMax: 1_048_576, channels: [] });
}

describe('providers of a config, while the control plane is away', () => {
  it.each<[string, JsonObject, Record<string, string>]>([
    ['named by the config', { provider: '@one', cache: { mode: 'simple' } }, {}],
    ['named by the request', { cache: { mode: 'simple' } }, { 'x-svc-provider': '@one' }],
  ])('are known to a process that has served cached replies only: %s', async (_name, config, named) => {
    const shared = newCache();
    const headers = { 'x-svc-config': JSON.stringify(config), ...named };
    // Another process has stored the reply. Digests of both are equal.
    expect((await start(shared).send({ headers, body })).header('x-svc-cache-status')).toBe('MISS');
    const gateway = start(shared);
    expect((await gateway.send({ headers, body })).header('x-svc-cache-status')).toBe('HIT');
    expect(gateway.calls).toHaveLength(0);
    gateway.state.isAway = true;
    expect((await gateway.send({ headers, body: other })).status).toBe(200);
  });

  it('are known for every target of a fallback', async () => {
    const gateway = start();
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] };
    const headers = { 'x-svc-config': JSON.stringify(config) };
    expect((await gateway.send({ headers, body })).status).toBe(200);
    gateway.state.isAway = true;
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('hello')));
    expect((await gateway.send({ headers, body })).status).toBe(200);
  });

  it('are read again after a failed read, at most twenty for one config', async () => {
    const gateway = start();
    const targets = Array.from({ length: 30 }, (_, at) => ({ provider: at === 0 ? '@one' : `@p${at}` }));
    const headers = { 'x-svc-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets }) };
    gateway.state.isAway = true;
    expect((await gateway.send({ headers, body })).status).toBe(503);
    gateway.state.isAway = false;
    expect((await gateway.send({ headers, body })).status).toBe(200);
    expect(gateway.names()).toEqual(['one', ...Array.from({ length: 19 }, (_, at) => `p${at + 1}`)]);
  });
});
