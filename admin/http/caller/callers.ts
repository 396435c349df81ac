import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../admin-services.ts';
import type { AdminError } from '../errors.ts';
import type { AdminRoute } from '../route.ts';
import type { Actor, AuditActor } from './actor.ts';

/** The parts of a request that authentication reads. */
export interface Credentials {
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly clientAddress: string;
  header(name: string): string | undefined;
  /** Set on routes that accept the data-service token: their scopes, and the organisation that the query names. */
  readonly dataService?: { readonly scopes: readonly string[]; readonly organisationId: string | undefined };
}

/** `known`: the key that a rejected credential names, for the audit trail. */
export type Authentication = { readonly actor: Actor } | { readonly refused: AdminError; readonly known: AuditActor | null };

/** All scopes that a key of each type may have. */
export type ScopesByType = Readonly<Record<ApiKeyType, ReadonlySet<string>>>;

/** Rules about callers and workspaces. `admin/identity` and `admin/access` implement them; `start-control-plane.ts` connects them. */
export interface Callers {
  readonly scopesByType: ScopesByType;
  /** Authenticates a request, across all organisations. Throws if the database or a gateway cannot be reached. */
  authenticate(
    em: EntityManager,
    credentials: Credentials,
    services: Pick<AdminServices, 'settings' | 'apiKeyPepper' | 'clock' | 'log'>,
  ): Promise<Authentication>;
  /**
   * Returns the id of the workspace a request works on; null for the whole organisation. `names` are the different names in query and body.
   * Throws AB01, AB03 or AB08.
   */
  resolveWorkspace(
    em: EntityManager,
    actor: Actor,
    route: AdminRoute,
    names: readonly string[],
    params: Readonly<Record<string, string>>,
  ): Promise<string | null>;
  /** Limits the scopes of a user to their role in this workspace. */
  inWorkspace(em: EntityManager, actor: Actor, workspaceId: string | null): Promise<Actor>;
  /** Prevents the deletion of an active workspace until the transaction ends; false if there is none. */
  holdWorkspace(tx: EntityManager, organisationId: string, id: string): Promise<boolean>;
}
