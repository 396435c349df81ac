import { userDocumentId } from '../../core/contract/protocol/credentials/user-document-id.ts';
import type { Change } from '../publish/write-change.ts';

/** Users affected by a change. Null: any user, any workspace. */
export interface Affected {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly userId: string | null;
}

/**
 * Announces that users changed to whom JWTs are attributed, in their rights or identity, so that gateways load them again. Does
 * nothing if the organisation does not use JWT authentication, since gateways then hold no users. Call it while the user still
 * exists, or already exists.
 */
export async function announceUsers(change: Change, { organisationId, workspaceId, userId }: Affected): Promise<void> {
  const found = await change.tx.execute<{ email: string }[]>(
    `select u.email from users u join organisations o on o.id = u.organisation_id
     where o.id = ? and jsonb_typeof(o.auth_settings->'jwt') = 'object' and (?::uuid is null or u.id = ?::uuid)
       and (?::uuid is not null or ?::uuid is null or exists (
         select 1 from workspace_members m where m.organisation_id = o.id and m.workspace_id = ?::uuid and m.user_id = u.id))`,
    [organisationId, userId, userId, userId, workspaceId, workspaceId],
  );
  for (const { email } of found) announceUser(change, organisationId, email);
}

/** Like `announceUsers`, for one user by e-mail of an organisation that may or may not use JWT authentication. */
export function announceUser(change: Change, organisationId: string, email: string): void {
  change.emit({ kind: 'user', id: userDocumentId(organisationId, email), op: 'upsert' });
}

/**
 * Announces a change of the JWT settings. While JWT authentication was off, changes of users were not announced, so gateways must
 * reload users that they cached earlier.
 */
export async function announceTokens(change: Change, organisationId: string, wereTaken: boolean): Promise<void> {
  change.emit({ kind: 'organisation', id: organisationId, op: 'upsert' });
  if (wereTaken) return;
  await change.tx.flush();
  await announceUsers(change, { organisationId, workspaceId: null, userId: null });
}
