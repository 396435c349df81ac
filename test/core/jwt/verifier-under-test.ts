import type { DocumentReader } from '../../../core/contract/plugin/plugin.ts';
import type { TokenAsk, TokenVerifier, VerifiedToken } from '../../../core/contract/protocol/credentials/tokens.ts';
import type { DocumentKind, OrganisationDocument } from '../../../core/contract/protocol/documents.ts';
import type { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type FetchKeySet, KeySets } from '../../../core/jwt/key-sets.ts';
import { createTokenVerifier } from '../../../core/jwt/token-verifier.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newSigningKey, type SigningKey, signToken } from '../../support/samples/tokens.ts';

export const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
export const otherOrganisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0009';
export const workspaceId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0002';
export const secondWorkspaceId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0003';
export const foreignWorkspaceId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0004';
export const userId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0005';

export interface UnderTest {
  readonly key: SigningKey;
  readonly documents: Map<string, object>;
  readonly reader: DocumentReader;
  readonly tokens: TokenVerifier;
  readonly log: ReturnType<typeof newMemoryLog>;
  /** Milliseconds of both clocks. */
  nowMs: number;
  /** A token of the organisation for the first workspace that may call models, changed by these claims. */
  sign(claims?: JsonObject, header?: JsonObject, key?: SigningKey): string;
  verify(token: string, ask?: Partial<TokenAsk>): Promise<VerifiedToken>;
  /** Returns the error of a rejected token. Fails if the token is accepted. */
  refusal(token: string, ask?: Partial<TokenAsk>): Promise<GatewayError>;
  setTokens(organisationId: string, jwt: Partial<OrganisationDocument['jwt']>): void;
}

export const goodClaims = { svc_oid: organisationId, svc_workspace: 'ws-main', scope: 'completions.write' };

/** Creating a key pair takes long. */
const key = newSigningKey();

/** A verifier over documents in memory: two organisations, one with two workspaces and a user in the first of them. */
export function newUnderTest(fetch: FetchKeySet = () => Promise.reject(new Error('no host'))): UnderTest {
  const documents = new Map<string, object>();
  const put = (kind: DocumentKind, id: string, document: object) => void documents.set(`${kind} ${id}`, { id, ...document });
  for (const [id, slug, owner] of [
    [workspaceId, 'ws-main', organisationId],
    [secondWorkspaceId, 'ws-second', organisationId],
    [foreignWorkspaceId, 'ws-foreign', otherOrganisationId],
  ] as const) {
    put('workspace', id, { slug, organisationId: owner });
    put('workspace-name', `${owner}/${slug}`, { organisationId: owner, workspaceId: id });
  }
  const places = { [workspaceId]: ['completions.write', 'models.list'] };
  put('user', `${organisationId}/ada@example.com`, {
    organisationId,
    user: { id: userId, name: 'Ada Lovelace', everywhere: null, places },
  });
  const reader: DocumentReader = { get: (kind, id) => (documents.get(`${kind} ${id}`) ?? null) as never };
  const log = newMemoryLog();
  const test: UnderTest = {
    key,
    documents,
    reader,
    log,
    nowMs: Date.now(),
    tokens: undefined as never,
    sign: (claims = {}, header = {}, by = key) => signToken(by, { ...goodClaims, ...claims }, header),
    verify: async (token, ask = {}) => test.tokens.verify({ token, workspace: null, clientAddress: '192.0.2.1', ...ask }),
    refusal: (token, ask) =>
      test.verify(token, ask).then(
        () => Promise.reject(new Error('it was not refused')),
        (error: GatewayError) => error,
      ),
    setTokens: (id, jwt) =>
      put('organisation', id, { jwt: { urls: [], keys: [], issuer: null, audience: null, maxTtlSeconds: null, ...jwt } }),
  };
  const clock = { now: () => test.nowMs, elapsed: () => test.nowMs };
  const tokens = createTokenVerifier({
    documents: reader,
    keySets: new KeySets({ fetch, clock, log }),
    clock,
    noteRefusal: () => {},
  });
  test.setTokens(organisationId, { keys: [key.jwk] });
  return Object.assign(test, { tokens });
}
