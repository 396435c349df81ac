import { beforeEach, describe, expect, it } from 'vitest';
import {
  foreignWorkspaceId,
  newUnderTest,
  organisationId,
  secondWorkspaceId,
  type UnderTest,
  userId,
  workspaceId,
} from './verifier-under-test.ts';

let test: UnderTest;
beforeEach(() => {
  test = newUnderTest();
});

describe('the organisation claim', () => {
  it('is svc_oid, else organisation_id, in any letter case', async () => {
    const both = test.sign({ organisation_id: 'ignored' });
    expect((await test.verify(both)).identity.organisationId).toBe(organisationId);
    const second = test.sign({ svc_oid: undefined, organisation_id: organisationId.toUpperCase() });
    expect((await test.verify(second)).identity.organisationId).toBe(organisationId);
  });

  it.each([undefined, 'acme', 7, { toString: 1, valueOf: 1 }])('is rejected as %j', async (svc_oid) => {
    expect((await test.refusal(test.sign({ svc_oid }))).message).toContain('svc_oid');
  });
});

describe('the workspace claim', () => {
  it.each([
    ['svc_workspace as slug', { svc_workspace: 'ws-second', workspace_slug: 'ws-main' }],
    ['svc_workspace as id', { svc_workspace: secondWorkspaceId }],
    ['workspace_slug', { svc_workspace: undefined, workspace_slug: 'ws-second' }],
  ])('is %s', async (_what, claims) => {
    expect((await test.verify(test.sign(claims))).identity.workspaceId).toBe(secondWorkspaceId);
  });

  it('is required, and must belong to the organisation', async () => {
    expect(await test.refusal(test.sign({ svc_workspace: undefined }))).toMatchObject({ status: 401 });
    for (const svc_workspace of ['ws-nowhere', 'ws-foreign', foreignWorkspaceId, '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0fff']) {
      expect(await test.refusal(test.sign({ svc_workspace }))).toMatchObject({ code: 'forbidden', status: 403 });
    }
  });

  it('ends its JWTs if the workspace is deleted or renamed', async () => {
    const token = test.sign();
    await test.verify(token);
    test.documents.delete(`workspace-name ${organisationId}/ws-main`);
    expect(await test.refusal(token)).toMatchObject({ status: 403 });
  });

  it('cannot be replaced by a header for a JWT without a user', async () => {
    const token = test.sign();
    expect((await test.verify(token, { workspace: workspaceId })).identity.workspaceId).toBe(workspaceId);
    expect(await test.refusal(token, { workspace: 'ws-second' })).toMatchObject({ code: 'forbidden' });
    expect((await test.verify(token)).identity.workspaceId).toBe(workspaceId);
  });
});

describe('the scopes claim', () => {
  it.each([
    ['a text', { scope: ' models.list  completions.write models.list' }, ['models.list', 'completions.write']],
    ['a list', { scope: undefined, scopes: ['svc.logs.read'] }, ['logs.read']],
    ['a text over a list', { scope: '', scopes: ['completions.write'] }, []],
  ])('accepts %s', async (_what, claims, scopes) => {
    expect([...(await test.verify(test.sign(claims))).identity.scopes]).toEqual(scopes);
  });

  it.each([
    [{ scope: undefined }],
    [{ scope: ['completions.write'] }],
    [{ scope: undefined, scopes: 'completions.write' }],
    [{ scope: undefined, scopes: [7] }],
    [{ scope: undefined, scopes: Array.from({ length: 501 }, (_, at) => `s${at}`) }],
  ])('is rejected as %j', async (claims) => {
    const error = await test.refusal(test.sign(claims));
    expect(error.status).toBe(401);
    expect(error.message).toContain('scope');
  });
});

describe('the user claim', () => {
  it.each([{ email_id: 'ada@example.com' }, { sub: 'nobody@example.com' }])(
    'is rejected as an e-mail that is not verified: %j',
    async (claims) => {
      for (const email_verified of [false, 'false', 'False', 0, null]) {
        const refusal = await test.refusal(test.sign({ ...claims, email_verified }));
        expect(refusal).toMatchObject({ status: 401, message: expect.stringContaining('email_verified is not true') });
      }
      for (const email_verified of [true, 'true']) await test.verify(test.sign({ ...claims, email_verified }));
      await test.verify(test.sign({ sub: 'machine 7', email_verified: false }));
    },
  );

  it('is the first of email_id, sub and uid with an e-mail, limited to the user’s role', async () => {
    const scope = 'completions.write logs.write';
    for (const claims of [
      { email_id: 'Ada@Example.com', sub: 'someone@example.com' },
      { sub: 'ada@example.com', uid: 'x' },
      { uid: 'ada@example.com' },
    ]) {
      const { identity, scopes } = await test.verify(test.sign({ ...claims, scope }));
      expect(identity).toMatchObject({ userId, userName: 'Ada Lovelace' });
      expect([...identity.scopes]).toEqual(['completions.write']);
      expect(scopes).toEqual(['completions.write', 'logs.write']);
    }
  });

  it.each([
    ['nobody of the organisation', { email_id: 'stranger@example.com', uid: 'ada@example.com' }, 'stranger@example.com'],
    ['no e-mail', { sub: 'auth|7', uid: 'ada@example.com' }, 'auth|7'],
    ['nothing', {}, null],
  ])('is ignored if the first of them has %s', async (_what, claims, tokenSubject) => {
    const { identity } = await test.verify(test.sign(claims));
    expect(identity).toMatchObject({ userId: null, userName: null, tokenSubject });
    expect([...identity.scopes]).toEqual(['completions.write']);
  });

  it('limits a user whose e-mail is not ASCII, too', async () => {
    const user = { id: userId, name: 'Jürgen', everywhere: null, places: { [workspaceId]: [] } };
    const id = `${organisationId}/:asO8cmdlbg@xn--bcher-kva.example`;
    test.documents.set(`user ${id}`, { id, organisationId, user });
    const { identity } = await test.verify(test.sign({ sub: 'Jürgen@bücher.example' }));
    expect([identity.userId, identity.scopes.size]).toEqual([userId, 0]);
    // The encoded form is not an e-mail.
    expect((await test.verify(test.sign({ sub: ':asO8cmdlbg@xn--bcher-kva.example' }))).identity.userId).toBeNull();
  });

  it('allows x-svc-workspace for the user’s workspaces only', async () => {
    const token = test.sign({ sub: 'ada@example.com', svc_workspace: 'ws-second' });
    const refusal = { code: 'forbidden', status: 403, message: expect.stringContaining('deactivated, or is not a member') };
    expect(await test.refusal(token)).toMatchObject(refusal);
    for (const workspace of ['ws-main', workspaceId]) {
      expect((await test.verify(token, { workspace })).identity.workspaceId).toBe(workspaceId);
    }
    for (const workspace of ['ws-second', 'ws-foreign', foreignWorkspaceId, 'ws-nowhere']) {
      expect(await test.refusal(token, { workspace })).toMatchObject({ code: 'forbidden', status: 403 });
    }
  });

  it('rejects JWTs that were issued before their user was removed, or that may have been', async () => {
    const id = `${organisationId}/ada@example.com`;
    const issued = Math.floor(test.nowMs / 1_000);
    const [token, undated] = [test.sign({ sub: 'ada@example.com', iat: issued }), test.sign({ sub: 'ada@example.com' })];
    expect((await test.verify(token)).identity.userId).toBe(userId);
    const removedAtMs = test.nowMs + 1_000;
    test.documents.set(`user ${id}`, { id, organisationId, user: null, removedAtMs });
    for (const before of [token, undated]) {
      const error = await test.refusal(before);
      expect(error).toMatchObject({ code: 'forbidden', status: 403 });
      expect(error.message).toContain('the user of this token was removed after the token was issued');
    }
    test.nowMs += 60_000;
    const later = test.sign({ sub: 'ada@example.com', iat: issued + 60 });
    expect((await test.verify(later)).identity).toMatchObject({ userId: null, tokenSubject: 'ada@example.com' });
  });

  it('loses its rights at once with the user’s membership', async () => {
    const token = test.sign({ sub: 'ada@example.com' });
    await test.verify(token);
    const id = `${organisationId}/ada@example.com`;
    const user = { id: userId, name: 'Ada', everywhere: null, places: { [workspaceId]: [] } };
    test.documents.set(`user ${id}`, { id, organisationId, user });
    expect((await test.verify(token)).identity.scopes.size).toBe(0);
    test.documents.set(`user ${id}`, { id, organisationId, user: { ...user, places: {} } });
    expect(await test.refusal(token)).toMatchObject({ code: 'forbidden' });
    test.documents.set(`user ${id}`, { id, organisationId, user: { ...user, everywhere: ['completions.write'] } });
    expect((await test.verify(token)).identity.scopes.has('completions.write')).toBe(true);
  });
});

describe('the defaults claim', () => {
  it('has metadata, and a config that is looked up when it is used', async () => {
    const metadata = { team: 'core' };
    for (const config_id of ['pc-mine', 'pc-nowhere', '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0007']) {
      const { identity } = await test.verify(test.sign({ defaults: { config_id, metadata } }));
      expect(identity.defaults).toEqual({ configSlug: config_id, metadata, allowConfigOverride: true });
    }
    for (const config_id of ['', null]) {
      const { identity } = await test.verify(test.sign({ defaults: { config_id } }));
      expect(identity.defaults.configSlug).toBeNull();
    }
  });

  it.each([
    [{ defaults: 'x' }, 'defaults is invalid: expected object, received string'],
    [{ defaults: { config_id: 7 } }, 'defaults.config_id is invalid: expected string, received number'],
    [{ defaults: { config_id: '../xxx' } }, 'defaults.config_id is invalid: the slug or id of a config is expected'],
    [{ defaults: { metadata: { team: 7 } } }, 'defaults.metadata.team is invalid: expected string, received number'],
    [{ defaults: { metadata: { team: 'x'.repeat(129) } } }, 'defaults.metadata.team is invalid: at most 128 characters'],
  ])('is rejected as %j, naming the claim without its value', async (claims, text) => {
    const error = await test.refusal(test.sign(claims));
    expect(error.status).toBe(401);
    expect(error.message).toContain(`the claim ${text}`);
    expect(error.message).not.toContain('xxx');
  });
});

describe('the limits claim', () => {
  it('applies to the one JWT, whatever ids it has', async () => {
    const exp = Math.floor(test.nowMs / 1000) + 600;
    const usage_limits = [
      { id: 'budget-of-somebody', type: 'cost', credit_limit: 2.5, status: 'active' },
      { type: 'tokens', credit_limit: 1000, status: 'exhausted' },
    ];
    const rate_limits = [{ type: 'requests', unit: 'rpm', value: 3 }];
    const { identity } = await test.verify(test.sign({ exp, usage_limits, rate_limits }));
    const [cost, tokens] = identity.limits?.usageLimits ?? [];
    expect(cost).toMatchObject({ id: `token:${identity.keyId}:0`, type: 'cost', creditLimit: 2.5 });
    expect(tokens).toMatchObject({ id: `token:${identity.keyId}:1`, creditLimit: 0 });
    // Reset only after the token has expired, so that a token never gets a second budget.
    expect(Date.parse(cost?.nextUsageResetAt ?? '')).toBeGreaterThan((exp + 5) * 1000);
    expect(identity.limits?.rateLimits).toEqual(rate_limits);
  });

  it.each([
    [{ usage_limits: { type: 'cost', credit_limit: 1 } }, 'usage_limits'],
    [{ usage_limits: [{ type: 'requests', credit_limit: 1 }] }, 'usage_limits[0].type'],
    [{ usage_limits: [{ type: 'cost', credit_limit: -1 }] }, 'usage_limits[0].credit_limit'],
    [{ usage_limits: [{ type: 'cost', credit_limit: 1, status: 'asleep' }] }, 'usage_limits[0].status'],
    [{ rate_limits: [{ type: 'requests', unit: 'rpy', value: 1 }] }, 'rate_limits[0].unit'],
    [{ rate_limits: [{ type: 'requests', unit: 'rpm', value: 1.5 }] }, 'rate_limits[0].value'],
    [{ rate_limits: [1, 2].map((value) => ({ type: 'requests', unit: 'rpm', value })) }, 'rate_limits'],
  ])('is rejected if malformed: %j', async (claims, path) => {
    const error = await test.refusal(test.sign(claims));
    expect(error.status).toBe(401);
    expect(error.message).toContain(path);
  });
});
