import type { Actor } from '../http/caller/actor.ts';
import { forbidden } from '../http/errors.ts';
import type { SecuritySettings } from '../resources/organisations/security-settings.ts';

/** Settings that restrict admins of the organisation. Admins cannot lift them for themselves. */
const aboutAdmins = ['organisationAdminsViewLogs', 'organisationAdminsViewLogMetadata'] as const;

/**
 * Throws AB03 if an actor other than an owner changes settings so that admins can see data that was hidden from them. `before`
 * and `after` are the effective settings of the organisation and its workspaces, in the same order.
 */
export function requireUnchangedVisibility(
  actor: Pick<Actor, 'actsAsOwner'>,
  before: readonly SecuritySettings[],
  after: readonly SecuritySettings[],
): void {
  if (actor.actsAsOwner) return;
  const opened = aboutAdmins.find((name) => before.some((one, index) => !one[name] && after[index]?.[name]));
  if (opened) throw forbidden(`security_settings.${opened}: only owners can let admins read more`);
}
