import { AccessRefusal } from '../http/errors.ts';
import type { PublicCall } from '../http/public-route.ts';

/** Reasons for rejecting a sign-in, for administrators. The audit entry holds them as `reason`. */
export type RefusalReason =
  | 'attempt_expired'
  | 'other_browser'
  | 'connection_disabled'
  | 'provider_error'
  | 'provider_unreachable'
  | 'invalid_response'
  | 'metadata_expired'
  | 'replayed'
  | 'email_missing'
  | 'email_unverified'
  | 'domain_unverified'
  | 'domain_not_allowed'
  | 'identity_conflict'
  | 'no_group'
  | 'groups_not_sent'
  | 'provisioning_disabled'
  | 'user_deactivated';

/** A rejected sign-in. The message names the cause and the next step, and contains no secret. */
export class SignInRefusal extends AccessRefusal {
  declare readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(reason === 'provider_unreachable' ? 'AB10' : 'AB05', reason, message);
  }
}

/** Facts about a sign-in for the audit entry, as far as they are known. */
export interface RefusedSignIn {
  readonly organisationId: string;
  readonly connectionId: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Runs a step of a sign-in. If the step is rejected, adds an audit entry with the reason and rethrows. */
export async function auditRefusals<T>(
  call: Pick<PublicCall<never>, 'auditRefusal'>,
  { organisationId, connectionId, details }: RefusedSignIn,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof SignInRefusal) {
      const { reason, message, status, code } = error;
      const entry = { ...details, connection_id: connectionId, reason, message };
      // Without details, the provider has not vouched for the sender.
      const sender = { organisationId, userId: null, ...(details ? {} : { isAnonymous: true as const }) };
      call.auditRefusal(sender, status, code, entry);
    }
    throw error;
  }
}
