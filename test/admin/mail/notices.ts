import type { NewMail } from '../../../admin/mail/add-mails.ts';
import type { Plane } from '../support/plane.ts';

/** Addresses `notice-<number>@example.com`. */
export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `notice-${n}@example.com`);
}

/** Stores a notice about a key for each address, as a housekeeping task does, and wakes the sender. */
export async function addNotices(plane: Plane, addresses: readonly string[], fields: Partial<NewMail> = {}): Promise<void> {
  const { database, mailer } = plane.control.services;
  const { organisationId, workspaceId } = plane;
  const about = { resource: 'api_keys', uri: '/v1/api-keys/k', id: organisationId, workspaceId };
  const mail = { organisationId, kind: 'rotation-notice', about, subject: 'Rotate', text: 'Rotate the key.', ...fields } as const;
  await database.em().transactional((tx) =>
    mailer.add(
      tx,
      addresses.map((to) => ({ ...mail, to })),
    ),
  );
  mailer.wake();
}
