import type { Identity } from '../contract/plugin/context.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import { userDocumentId } from '../contract/protocol/credentials/user-document-id.ts';
import type { DocumentKind, DocumentOf, OrganisationDocument, UserDocument } from '../contract/protocol/documents.ts';
import { defaultPrefix } from '../contract/protocol/header-names.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { isPromise } from '../contract/values/maybe.ts';
import { isUuid } from '../contract/values/text/uuid.ts';
import type { Claims } from './claims.ts';
import { skewSeconds } from './read-token.ts';

/** A document that a result was made from. If another object replaces it, the result must be rebuilt. */
interface Basis {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly document: object | null;
}

/** The workspace and identity a JWT acts with. */
export interface TokenIdentity {
  readonly identity: Identity;
  readonly basis: readonly Basis[];
}

/** The parts of a token that do not depend on the workspace. */
export interface CheckedToken {
  readonly organisation: OrganisationDocument;
  readonly claims: Claims;
  readonly keyId: string;
}

/** True while every document the identity was made from is still the one in memory. */
export function isCurrent(found: TokenIdentity, documents: DocumentReader): boolean {
  for (const { kind, id, document } of found.basis) {
    const now = documents.get(kind, id);
    if (now === document) continue;
    // The caller then builds a new identity and shares this look-up.
    if (isPromise(now)) now.catch(() => undefined);
    return false;
  }
  return true;
}

/**
 * Finds the workspace and the user that a token names. `selected` is the value of `x-svc-workspace`, with which users choose
 * among their workspaces. Rejects with GatewayError `forbidden` if the token has no access, `unavailable` if a look-up fails.
 */
export async function findIdentity(
  token: CheckedToken,
  selected: string | null,
  documents: DocumentReader,
): Promise<TokenIdentity> {
  const { organisation, claims, keyId } = token;
  const basis: Basis[] = [{ kind: 'organisation', id: organisation.id, document: organisation }];
  const get = async <Kind extends DocumentKind>(kind: Kind, id: string): Promise<DocumentOf[Kind] | null> => {
    const document = await documents.get(kind, id);
    basis.push({ kind, id, document });
    return document;
  };
  const find = async (name: string): Promise<string> => {
    const id = isUuid(name) ? name.toLowerCase() : (await get('workspace-name', `${organisation.id}/${name}`))?.workspaceId;
    const workspace = id === undefined ? null : await get('workspace', id);
    if (workspace?.organisationId === organisation.id) return workspace.id;
    throw forbidden('the organisation of this token has no such workspace');
  };

  const found = claims.email === null ? null : await get('user', userDocumentId(organisation.id, claims.email));
  const user = found?.user ?? null;
  // Without its user, the token would have every scope that it claims, more than the user's role allowed.
  if (user === null && isFromBefore(claims, found?.removedAtMs)) {
    throw forbidden('the user of this token was removed after the token was issued');
  }
  const workspaceId = await find(user && selected !== null ? selected : claims.workspace);
  if (!user && selected !== null && (await find(selected)) !== workspaceId) {
    const header = `${defaultPrefix}workspace`;
    throw forbidden(`${header} differs from the workspace of the token. Only tokens of users can select a workspace`);
  }
  const identity: Identity = {
    keyId,
    organisationId: organisation.id,
    workspaceId,
    userId: user?.id ?? null,
    userName: user?.name ?? null,
    tokenSubject: claims.subject,
    scopes: user ? scopesOfUser(claims.scopes, user, workspaceId) : new Set(claims.scopes),
    limits: claims.limits,
    // The config is looked up only when it is used: a request may bring its own.
    defaults: { configSlug: claims.config, metadata: claims.metadata, allowConfigOverride: true },
  };
  return { identity, basis };
}

/** True for a token that may have been issued before its user was removed. Clocks differ, and the age of a token without `iat` is unknown. */
function isFromBefore({ iat }: Claims, removedAtMs: number | undefined): boolean {
  return removedAtMs !== undefined && (iat === null || (iat - skewSeconds) * 1000 <= removedAtMs);
}

/** Returns the scopes that both the token and the user's role in the workspace allow. */
function scopesOfUser(
  scopes: readonly string[],
  user: NonNullable<UserDocument['user']>,
  workspaceId: string,
): ReadonlySet<string> {
  const allowed = user.everywhere ?? user.places[workspaceId];
  if (!allowed) throw forbidden('the user of this token was deactivated, or is not a member of the workspace');
  return new Set(scopes.filter((scope) => allowed.includes(scope)));
}

function forbidden(reason: string): GatewayError {
  return new GatewayError('forbidden', { message: `Forbidden! ${reason}` });
}
