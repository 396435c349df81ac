import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TokenRefusal } from '../../../core/contract/protocol/credentials/tokens.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { Refusals } from '../../../core/jwt/refusals.ts';
import { newUnderTest, organisationId, otherOrganisationId, type UnderTest } from './verifier-under-test.ts';

let test: UnderTest;
let refusals: Refusals;
let told: TokenRefusal[];
let status: number;
beforeEach(() => {
  test = newUnderTest();
  told = [];
  status = 200;
  refusals = new Refusals({
    documents: test.reader,
    clock: { now: () => test.nowMs, elapsed: () => test.nowMs },
    log: test.log,
    fetch: async (_method, _path, body) => {
      if (status === 200) told.push(...JSON.parse(Buffer.from(body ?? []).toString('utf8')).refusals);
      return { status, body: new Uint8Array() };
    },
  });
});
afterEach(() => refusals.close());

const use = { method: 'POST', path: '/v1/chat/completions', requestId: 'r1' };
const note = async (claims = {}, clientAddress = '192.0.2.1', error = new GatewayError('invalid_api_key')) =>
  refusals.note({ token: test.sign(claims), workspace: null, clientAddress }, error, use);

describe('rejected JWTs', () => {
  it('are reported with their claims, never with their text', async () => {
    await note({ sub: 'ada@example.com' });
    await refusals.report();
    const refusal = { status: 401, code: 'invalid_api_key', subject: 'ada@example.com', kid: test.key.kid, count: 1, ...use };
    expect(told).toMatchObject([{ organisationId, clientAddress: '192.0.2.1', ...refusal }]);
    expect(JSON.stringify(told)).not.toContain('eyJ');
  });

  it('are reported without characters that a database or terminal cannot hold', async () => {
    await note({ sub: `a\0b\ud800c\n${'x'.repeat(300)}` });
    await refusals.report();
    expect(told[0]?.subject).toBe(`a\ufffdb\ufffdc\ufffd${'x'.repeat(249)}`);
  });

  it('are one entry a minute per reason and address, with a count', async () => {
    for (let i = 0; i < 50; i++) await note();
    await refusals.report();
    for (let i = 0; i < 20; i++) await note();
    await note({}, '192.0.2.2');
    await refusals.report();
    expect(told.map(({ count, clientAddress }) => [count, clientAddress])).toEqual([
      [50, '192.0.2.1'],
      [1, '192.0.2.2'],
    ]);
    test.nowMs += 60_000;
    await refusals.report();
    expect(told[2]).toMatchObject({ count: 20, clientAddress: '192.0.2.1' });
  });

  it('from very many addresses are bounded', async () => {
    const token = test.sign();
    for (let i = 0; i < 2_000; i++) {
      refusals.note({ token, workspace: null, clientAddress: `a${i}` }, new GatewayError('invalid_api_key'), use);
    }
    for (let i = 0; i < 10; i++) await refusals.report();
    expect(told).toHaveLength(500);
  });

  it('are kept while the control plane is away', async () => {
    await note();
    status = 503;
    await refusals.report();
    await note();
    expect(told).toEqual([]);
    status = 200;
    await refusals.close();
    expect(told).toMatchObject([{ count: 2 }]);
  });

  it('are counted if they come during a report that fails', async () => {
    await note();
    status = 503;
    const failing = refusals.report();
    await note();
    await failing;
    status = 200;
    await refusals.close();
    expect(told).toMatchObject([{ count: 2 }]);
  });

  it('are not reported for internal errors, limits, or organisations without JWTs', async () => {
    for (const code of ['unavailable', 'key_rate_limit', 'key_usage_limit', 'too_many_failures'] as const) {
      await note({}, '192.0.2.1', new GatewayError(code));
    }
    await note({ svc_oid: otherOrganisationId });
    await note({ svc_oid: 'none' });
    await refusals.report();
    expect(told).toEqual([]);
  });
});
