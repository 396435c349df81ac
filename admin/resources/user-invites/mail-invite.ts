import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { inviteMail } from '../../identity/mails.ts';
import { organisations } from '../organisations/entity.ts';
import type { UserInvite } from './entity.ts';

/** Stores the mail of an invite, which replaces an earlier one that waits. Wake the mailer after the commit. */
export async function mailInvite(
  tx: EntityManager,
  { mailer }: Pick<AdminServices, 'mailer'>,
  { id, organisationId, email, expiresAt }: UserInvite,
  link: string,
): Promise<void> {
  if (!mailer.on) return;
  const organisation = await tx.findOne(organisations, { id: organisationId });
  const about = { resource: 'user_invites', uri: `/v1/admin/users/invites/${id}`, id, workspaceId: null };
  const content = inviteMail(email, organisation?.name ?? 'an organisation', link);
  await mailer.add(tx, [{ organisationId, kind: 'invite', about, endsAt: expiresAt.getTime(), ...content }]);
}
