import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { KeySets } from '../../../core/jwt/key-sets.ts';
import { createTokenVerifier } from '../../../core/jwt/token-verifier.ts';
import { createHarness, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newSigningKey, signToken } from '../../support/samples/tokens.ts';

const key = newSigningKey();
const body = { model: 'gpt-5', messages: [] };
const sign = (claims = {}) =>
  signToken(key, { svc_oid: organisationId, svc_workspace: workspaceId, scope: 'completions.write', ...claims });

/** A gateway whose organisation accepts JWTs, and the audit events of rejected ones. */
function gatewayWithTokens() {
  const refusals: { address: string; code: string; path: string }[] = [];
  // A fixed time, because failures are counted in windows of a minute.
  const nowMs = Date.now();
  const clock = { now: () => nowMs, elapsed: () => performance.now() };
  const gateway = createHarness({
    now: clock.now,
    tokens: (documents) =>
      createTokenVerifier({
        documents,
        clock,
        keySets: new KeySets({ fetch: () => Promise.reject(new Error('no host')), clock, log: newMemoryLog() }),
        noteRefusal: ({ clientAddress }, { code }: GatewayError, { path }) =>
          void refusals.push({ address: clientAddress, code, path }),
      }),
  });
  const jwt = { urls: [], keys: [key.jwk], issuer: null, audience: null };
  gateway.documents.set(`organisation ${organisationId}`, { id: organisationId, jwt });
  return { ...gateway, refusals };
}

/** The harness sends its key as x-svc-api-key by default. */
const withoutOwn = { 'x-svc-api-key': undefined as never };

describe('a JWT in auth', () => {
  it.each([
    ['x-svc-api-key', (token: string) => ({ 'x-svc-api-key': token })],
    ['Authorization', (token: string) => ({ ...withoutOwn, authorization: `Bearer ${token}` })],
    ['x-api-key', (token: string) => ({ ...withoutOwn, 'x-api-key': token })],
    [
      'x-api-key beside a key of a provider',
      (token: string) => ({ ...withoutOwn, 'x-api-key': token, authorization: 'Bearer sk-1' }),
    ],
    [
      'all of them at once',
      (token: string) => ({ 'x-svc-api-key': token, authorization: `Bearer ${token}`, 'x-api-key': token, 'api-key': token }),
    ],
  ])('comes from %s, and is not forwarded', async (_name, headersOf) => {
    const gateway = gatewayWithTokens();
    const token = sign({ sub: 'machine 7' });
    const reply = await gateway.send({
      headers: {
        ...headersOf(token),
        'x-svc-provider': 'openai',
        'x-svc-forward-headers': 'x-extra',
        'x-extra': `Bearer ${token}`,
      },
      body,
    });
    expect(reply.status, reply.text).toBe(200);
    expect(JSON.stringify(gateway.calls)).not.toContain(token);
    expect(gateway.records[0]).toMatchObject({ organisationId, workspaceId, userId: null, tokenSubject: 'machine 7' });
    expect(JSON.stringify(gateway.records) + JSON.stringify(gateway.logs)).not.toContain(token);
  });

  it('is not used as provider credential in the options of a batch', async () => {
    const gateway = gatewayWithTokens();
    const token = sign();
    const reply = await gateway.send({
      path: '/v1/batches',
      headers: { 'x-svc-api-key': token },
      body: {
        ...{ input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
        svc_options: { provider: 'openai', authorization: `Bearer ${token}` },
      },
    });
    expect([reply.status, (reply.json.error as JsonObject).param]).toEqual([400, 'svc_options.authorization']);
    expect(gateway.calls).toEqual([]);
  });

  it('leaves a provider’s token in Authorization to the provider', async () => {
    const gateway = gatewayWithTokens();
    const theirs = signToken(newSigningKey(), { sub: 'azure' });
    const headers = { 'x-svc-api-key': sign(), authorization: `Bearer ${theirs}`, 'x-svc-provider': 'openai' };
    expect((await gateway.send({ headers, body })).status).toBe(200);
    expect(gateway.calls[0]?.headers).toContain(`Bearer ${theirs}`);
    const withKey = { 'x-api-key': gateway.key, authorization: `Bearer ${theirs}`, 'x-svc-provider': 'openai' };
    expect((await gateway.send({ headers: { ...withoutOwn, ...withKey }, body })).status).toBe(200);
  });

  it('needs the scope of the route', async () => {
    const gateway = gatewayWithTokens();
    const token = sign({ scope: 'logs.read' });
    const reply = await gateway.send({ headers: { 'x-svc-api-key': token, 'x-svc-provider': '@one' }, body });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('completions.write');
    expect(gateway.records[0]).toMatchObject({ organisationId, status: 403 });
    expect(gateway.refusals).toEqual([{ address: expect.any(String), code: 'forbidden', path: '/v1/chat/completions' }]);
  });

  it('is reported if rejected, and its record has no owner', async () => {
    const gateway = gatewayWithTokens();
    const forged = signToken(newSigningKey(key.kid), { svc_oid: organisationId, svc_workspace: workspaceId, scope: '' });
    expect((await gateway.send({ headers: { 'x-svc-api-key': forged }, body })).status).toBe(401);
    expect(gateway.refusals).toMatchObject([{ code: 'invalid_api_key' }]);
    expect(gateway.records[0]).toMatchObject({ organisationId: null, status: 401 });
  });

  it('is not looked up for an address with many rejected ones', async () => {
    const gateway = gatewayWithTokens();
    const forged = signToken(newSigningKey(key.kid), { svc_oid: organisationId, svc_workspace: workspaceId, scope: '' });
    for (let i = 0; i < 60; i++) expect((await gateway.send({ headers: { 'x-svc-api-key': forged }, body })).status).toBe(401);
    const get = gateway.documents.get.bind(gateway.documents);
    gateway.documents.get = ((id: string) => (id.startsWith('organisation ') ? Promise.resolve(null) : get(id))) as never;
    const request = { headers: { 'x-svc-api-key': sign() }, body };
    expect((await gateway.send(request)).status).toBe(429);
    expect((await gateway.send({ ...request, remoteAddress: '10.0.0.9' })).status).toBe(403);
  });

  it('without the scope of the route does not count as rejected', async () => {
    const gateway = gatewayWithTokens();
    const token = sign({ scope: 'logs.read' });
    for (let i = 0; i < 60; i++) expect((await gateway.send({ headers: { 'x-svc-api-key': token }, body })).status).toBe(403);
    const get = gateway.documents.get.bind(gateway.documents);
    gateway.documents.get = ((id: string) => {
      const document = get(id);
      return id.startsWith('organisation ') ? Promise.resolve(document) : document;
    }) as never;
    const headers = { 'x-svc-api-key': sign({ sub: 'another' }), 'x-svc-provider': '@one' };
    expect((await gateway.send({ headers, body })).status).toBe(200);
  });

  it('is not accepted without a verifier', async () => {
    const gateway = createHarness();
    expect((await gateway.send({ headers: { 'x-svc-api-key': sign() }, body })).status).toBe(401);
  });
});
