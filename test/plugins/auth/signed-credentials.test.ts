import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newJobCredential } from '../../../core/contract/protocol/credentials/job-credential.ts';
import { newOAuthToken } from '../../../core/contract/protocol/credentials/oauth-token.ts';
import type { ApiKeyDocument } from '../../../core/contract/protocol/documents.ts';
import { ownBatchPrefix } from '../../../core/contract/provider/own-store.ts';
import { newApiKey, parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { createHarness, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const keys = { jobCredentialKey: randomBytes(32), oauthTokenKey: randomBytes(32) };
const nowMs = Date.parse('2026-01-01T00:00:00Z');
const grantId = '00000000-0000-4000-8000-000000000001';
const grant = {
  ...{ id: grantId, organisationId, workspaceId, serverId: 'server', userId: 'user', userName: 'Ann', clientId: 'client' },
  scopes: ['mcp.invoke'],
};

/** A gateway at a fixed time that accepts credentials of jobs and of OAuth clients, and knows one grant. */
function newGateway() {
  const gateway = createHarness({ keys, now: () => nowMs });
  gateway.documents.set(`oauth-grant ${grantId}`, grant);
  const call = (credential: string) => gateway.send({ headers: { 'x-svc-api-key': credential, 'x-svc-provider': '@one' } });
  return { ...gateway, call };
}

const inSeconds = (seconds: number) => nowMs / 1000 + seconds;
const jobOf = (key: Uint8Array, keyId: string, ttlSeconds = 60) => newJobCredential(key, keyId, nowMs, ttlSeconds);

describe('an access token of an OAuth client', () => {
  it('is rejected if it is forged, and if its grant is gone', async () => {
    const gateway = newGateway();
    const forged = await gateway.call(newOAuthToken(randomBytes(32), 'oauth', grantId, inSeconds(60)));
    expect([forged.status, forged.text]).toEqual([401, expect.stringContaining('not valid')]);
    gateway.documents.delete(`oauth-grant ${grantId}`);
    const revoked = await gateway.call(newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(60)));
    expect([revoked.status, revoked.text]).toEqual([401, expect.stringContaining('revoked')]);
  });

  it('has expired at its end, and a second before it has not', async () => {
    const gateway = newGateway();
    const atEnd = await gateway.call(newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(0)));
    expect([atEnd.status, atEnd.text]).toEqual([401, expect.stringContaining('expired')]);
    expect((await gateway.call(newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(1)))).status).toBe(403);
  });

  it('calls no model', async () => {
    const reply = await newGateway().call(newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(60)));
    expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('MCP server only')]);
  });

  it('reaches no server if its grant lacks the scope', async () => {
    const gateway = newGateway();
    const token = newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(60));
    const ask = () => gateway.send({ path: '/workspace/server/mcp', headers: { 'x-svc-api-key': token } });
    expect((await ask()).status).not.toBe(403);
    gateway.documents.set(`oauth-grant ${grantId}`, { ...grant, scopes: [] });
    const reply = await ask();
    expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('mcp.invoke')]);
  });

  it('is not accepted by a gateway without the key that proves it', async () => {
    const gateway = createHarness({ now: () => nowMs });
    gateway.documents.set(`oauth-grant ${grantId}`, grant);
    const token = newOAuthToken(keys.oauthTokenKey, 'oauth', grantId, inSeconds(60));
    expect((await gateway.send({ headers: { 'x-svc-api-key': token } })).status).toBe(401);
  });
});

describe('a credential of a job', () => {
  it('has the rights of its key', async () => {
    const gateway = newGateway();
    const keyId = parseApiKey(gateway.key)?.id as string;
    expect((await gateway.call(jobOf(keys.jobCredentialKey, keyId))).status).toBe(200);
    expect((await gateway.call(jobOf(keys.jobCredentialKey, keyId, 0))).status).toBe(401);
    gateway.documents.delete(`api-key ${keyId}`);
    expect((await gateway.call(jobOf(keys.jobCredentialKey, keyId))).status).toBe(401);
  });

  it('ends with its key', async () => {
    const gateway = newGateway();
    const id = parseApiKey(gateway.key)?.id as string;
    const document = gateway.documents.get(`api-key ${id}`) as ApiKeyDocument;
    gateway.documents.set(`api-key ${id}`, { ...document, expiresAt: new Date(nowMs).toISOString() });
    const reply = await gateway.call(jobOf(keys.jobCredentialKey, id));
    expect([reply.status, reply.json]).toMatchObject([401, { error: { code: 'api_key_expired' } }]);
  });

  it('makes a line of a batch only under the trace id of one', async () => {
    const gateway = newGateway();
    const credential = jobOf(keys.jobCredentialKey, parseApiKey(gateway.key)?.id as string);
    for (const traceId of [`${ownBatchPrefix}1`, 'test-run-1']) {
      const headers = { 'x-svc-api-key': credential, 'x-svc-provider': '@one', 'x-svc-trace-id': traceId };
      expect((await gateway.send({ headers })).status).toBe(200);
    }
    expect(gateway.records.map(({ batch }) => batch)).toEqual([
      { id: `${ownBatchPrefix}1`, part: 'line', requests: 1 },
      undefined,
    ]);
  });
});

describe('forged credentials', () => {
  it.each([
    ['of OAuth clients', () => newOAuthToken(randomBytes(32), 'oauth', grantId, inSeconds(60))],
    ['of jobs', () => jobOf(randomBytes(32), newApiKey('ws').text.slice(7, 19))],
  ])('%s count as failures of their address', async (_name, forge) => {
    const gateway = newGateway();
    for (let i = 0; i < 60; i++) expect((await gateway.call(forge())).status).toBe(401);
    const unknown = newApiKey('ws');
    const get = gateway.documents.get.bind(gateway.documents);
    gateway.documents.get = ((id: string) => (id.includes(unknown.id) ? Promise.resolve(null) : get(id))) as never;
    expect((await gateway.call(unknown.text)).status).toBe(429);
  });
});
