import { expect, it } from 'vitest';
import type { Identity } from '../../../../core/contract/plugin/context.ts';
import { mcpConnectionId } from '../../../../core/contract/protocol/mcp/mcp-connection.ts';
import { createUpstreamTokens, type TokenParts } from '../../../../core/mcp/credentials/upstream-tokens.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';

/** The account of a user at an MCP server with OAuth. */
const refuse = () => {
  throw new Error('no token may be looked up');
};
const tokens = createUpstreamTokens({
  documents: { get: refuse },
  fetch: refuse,
  openToken: refuse,
  clock: { now: () => 0 },
} as unknown as TokenParts);
const server = (externalClaims: object | null) =>
  ({ document: { id: 's', slug: 's', authType: 'oauth_auto' }, externalClaims }) as ServerSettings;

it.each([
  [1, 200],
  [null, 403],
])('is not used if an external token may name another person, for the message %s', async (id, status) => {
  const refused = tokens.authorise(server({ sub: 'eve' }), { userId: 'ada' } as Identity, id, null);
  await expect(refused).rejects.toMatchObject({ rpcCode: -32000, status, message: expect.stringContaining('jwt_validation') });
});

it('does not replace the identity of the request, which differs between requests', async () => {
  const connection = { id: 'c', serverId: 's', userId: 'ada', tokenId: 't', expiresAt: null };
  const connected = createUpstreamTokens({
    ...{ documents: { get: () => connection }, openToken: () => 'token', clock: { now: () => 0 } },
  } as unknown as TokenParts);
  const headersOf = async (identity: string) => {
    const settings = { ...server(null), fingerprint: 'f', headers: { 'x-user-jwt': identity } };
    return (await connected.authorise(settings, { userId: 'ada' } as Identity, 1, null)).server.headers;
  };
  for (const identity of ['first', 'second']) {
    expect(await headersOf(identity)).toEqual({ 'x-user-jwt': identity, authorization: 'Bearer token' });
  }
});

it.each([
  ['of another user', { userId: 'eve' }],
  ['of all callers', { userId: null }],
  ['for another server', { serverId: 'other' }],
])('is not sent if the document is one %s', async (_name, changes) => {
  const connection = { id: 'c', serverId: 's', userId: 'ada', tokenId: 't', expiresAt: null, ...changes };
  const wrong = createUpstreamTokens({
    ...{ documents: { get: () => connection }, openToken: refuse, clock: { now: () => 0 } },
  } as unknown as TokenParts);
  await expect(wrong.authorise(server(null), { userId: 'ada' } as Identity, 1, null)).rejects.toMatchObject({ code: 'internal' });
});

it.each([
  ['oauth_auto', 'ada'],
  ['oauth_client_credentials', null],
])('with %s is looked up for the user %s', async (authType, userId) => {
  const asked: unknown[] = [];
  const connection = { id: 'c', serverId: 's', userId, tokenId: 't', expiresAt: null };
  const noting = createUpstreamTokens({
    documents: { get: (...names: unknown[]) => asked.push(names) && connection },
    ...{ openToken: () => 'token', clock: { now: () => 0 } },
  } as unknown as TokenParts);
  const settings = { ...server(null), document: { id: 's', slug: 's', authType }, fingerprint: 'f', headers: {} };
  await noting.authorise(settings as unknown as ServerSettings, { userId: 'ada' } as Identity, 1, null);
  expect(asked).toEqual([['mcp-connection', mcpConnectionId('s', userId)]]);
});

it('for demanded scopes comes from the control plane, not from memory', async () => {
  const connection = (tokenId: string) => ({
    ...{ id: 'c', organisationId: 'o', workspaceId: 'w', serverId: 's', userId: 'ada', tokenId, token: '', expiresAt: null },
  });
  const questions: unknown[] = [];
  const stepped = createUpstreamTokens({
    documents: { get: () => connection('in-memory') },
    openToken: () => 'token',
    clock: { now: () => 0 },
    fetch: async (_method: string, _path: string, body: Buffer) => {
      questions.push(JSON.parse(String(body)));
      return { status: 200, body: Buffer.from(JSON.stringify({ state: 'connected', document: connection('wider') })) };
    },
  } as unknown as TokenParts);
  const settings = { ...server(null), fingerprint: 'f', headers: {} };
  const idFor = async (scope: string | null) =>
    (await stepped.authorise(settings, { userId: 'ada' } as Identity, 1, { id: 'rejected', scope, isInvalid: false })).tokenId;
  expect([await idFor(null), questions]).toEqual(['in-memory', []]);
  expect([await idFor('admin'), questions]).toEqual([
    'wider',
    [{ serverId: 's', userId: 'ada', rejected: 'rejected', scope: 'admin', isInvalid: false }],
  ]);
});

it.each([
  ['an hour', 3_600_000, 3_579_000, 3_581_000],
  ['20 s', 20_000, 15_900, 16_100],
  ['2 s', 2_000, 1_500, 1_700],
])(
  'is used for four fifths of its lifetime, and for all but 20 s of a long one: %s',
  async (_name, lifetimeMs, goodMs, endedMs) => {
    let nowMs = 0;
    const connection = (tokenId: string, issuedMs: number) => ({
      ...{ id: 'c', organisationId: 'o', workspaceId: 'w', serverId: 's', userId: 'ada', tokenId, token: '' },
      ...{ issuedAt: new Date(issuedMs).toISOString(), expiresAt: new Date(issuedMs + lifetimeMs).toISOString() },
    });
    const renewing = createUpstreamTokens({
      documents: { get: () => connection('in-memory', 0) },
      openToken: () => 'token',
      clock: { now: () => nowMs },
      fetch: async () => ({
        status: 200,
        body: Buffer.from(JSON.stringify({ state: 'connected', document: connection('renewed', nowMs) })),
      }),
    } as unknown as TokenParts);
    const settings = { ...server(null), fingerprint: 'f', headers: {} };
    const idAt = async (ms: number) => {
      nowMs = ms;
      return (await renewing.authorise(settings, { userId: 'ada' } as Identity, 1, null)).tokenId;
    };
    expect([await idAt(0), await idAt(goodMs), await idAt(endedMs)]).toEqual(['in-memory', 'in-memory', 'renewed']);
  },
);
