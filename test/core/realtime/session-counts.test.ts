import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionCounts } from '../../../core/realtime/session-counts.ts';
import { refuseWith } from '../../support/fakes/fake-realtime.ts';
import { type RealtimeGateway, realtimePath, startRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import type { RunningGateway } from '../../support/product/start-gateway.ts';
import { until } from '../../support/until.ts';

describe('session limits of owners', () => {
  const owner = (keyId: string, workspaceId = 'w', organisationId = 'o') => ({ keyId, workspaceId, organisationId });

  it('count per key, workspace and organisation, and name the exhausted one', () => {
    const counts = new SessionCounts({ organisation: 4, workspace: 3, key: 2 });
    const leave = [counts.enter(owner('a')), counts.enter(owner('a'))];
    const refused = (who: ReturnType<typeof owner>): unknown => {
      try {
        leave.push(counts.enter(who));
      } catch (error) {
        return (error as { param: string }).param;
      }
      return null;
    };
    expect(refused(owner('a'))).toBe('REALTIME_SESSIONS_PER_KEY');
    expect(refused(owner('b'))).toBeNull();
    expect(refused(owner('b'))).toBe('REALTIME_SESSIONS_PER_WORKSPACE');
    expect(refused(owner('c', 'v'))).toBeNull();
    expect(refused(owner('d', 'u'))).toBe('REALTIME_SESSIONS_PER_ORGANISATION');
    expect(refused(owner('d', 'u', 'p'))).toBeNull();
    leave.shift()?.();
    expect(refused(owner('d', 'u'))).toBeNull();
  });

  it('set to 0 are not counted', () => {
    const counts = new SessionCounts({ organisation: 0, workspace: 0, key: 0 });
    for (let i = 0; i < 100; i++) counts.enter(owner('a'));
  });
});

describe('sessions of one key', () => {
  let realtime: RealtimeGateway<RunningGateway>;
  beforeAll(async () => {
    realtime = await startRealtimeGateway({ REALTIME_SESSIONS_PER_KEY: '1' });
  });
  afterAll(() => realtime?.close());

  it('above its limit are rejected with 429 before a provider is called; other keys have their own limit', async () => {
    const { gateway, provider, open, refusal } = realtime;
    const { client } = await open();
    const asked = provider.handshakes.length;
    const refused = await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey });
    expect([refused.status, provider.handshakes.length]).toEqual([429, asked]);
    expect(refused.json.error).toMatchObject({ code: 'too_many_sessions', param: 'REALTIME_SESSIONS_PER_KEY' });
    expect(refused.headers['retry-after']).toBe('1');
    const { key } = await gateway.admin.createKey({ scopes: ['completions.write'] });
    const other = await open(realtimePath, { 'x-svc-api-key': key });
    other.client.socket.terminate();
    client.socket.terminate();
  });

  it('release their slot however they end', async () => {
    const { gateway, provider, open, refusal } = realtime;
    // The slot is free once the other side is closed, which may be a moment later.
    const byClient = await until(() => open());
    byClient.client.socket.close(1000);
    const byProvider = await until(() => open());
    byProvider.session.socket.close(1000);
    const cutByClient = await until(() => open());
    cutByClient.client.socket.terminate();
    const cutByProvider = await until(() => open());
    cutByProvider.session.socket.terminate();
    await cutByProvider.client.closed;
    provider.replies = [refuseWith(403, {})];
    await until(async () => (await refusal(realtimePath, { 'x-svc-api-key': gateway.workspaceKey })).status === 403);
    (await until(() => open())).client.socket.terminate();
  });
});
