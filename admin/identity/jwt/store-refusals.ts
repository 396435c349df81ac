import * as v from 'valibot';
import { type TokenRefusal, tokenRefusals } from '../../../core/contract/protocol/credentials/tokens.ts';
import { type AuditDraft, addAuditEntry } from '../../audit/audit-entry.ts';
import { failureFields } from '../../failure-fields.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { createRateLimit } from '../../http/caller/rate-limit.ts';
import { invalid } from '../../http/errors.ts';
import { isDatabaseAway } from '../../is-database-away.ts';
import { organisations } from '../../resources/organisations/entity.ts';

/** Maximum number of entries per minute and organisation, from all sources. */
const entriesPerMinute = 60;

/**
 * Writes refused JWTs that gateways report into the audit trails of the organisations they name. A rate limit per minute keeps
 * forged JWTs from filling a trail. Organisations without JWT authentication get no entries.
 */
export function createRefusalStore(services: AdminServices): (bytes: Uint8Array) => Promise<void> {
  const limit = createRateLimit(entriesPerMinute, () => services.clock.elapsed());
  return async (bytes) => {
    for (const refusal of parse(bytes)) {
      const { organisationId } = refusal;
      const em = services.database.emOf(organisationId);
      const row = await em.findOne(organisations, { id: organisationId });
      if (!row?.authSettings?.jwt || !limit.admits(organisationId)) continue;
      const outcome = { status: refusal.status, errorCode: refusal.code, about: null };
      try {
        await em.transactional((tx) => addAuditEntry(tx, services.auditKey, toDraft(refusal), outcome));
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // Retrying would block all other reports forever.
        services.log.error({ organisationId, ...failureFields(error) }, 'could not write the audit entry of a rejected token');
      }
    }
  };
}

function toDraft(refusal: TokenRefusal): AuditDraft {
  const { organisationId, path, requestId, clientAddress, method, reason, subject, kid, count } = refusal;
  return {
    organisationId,
    workspaceId: null,
    method: 'POST',
    uri: path,
    requestId,
    // The claims of the token are unverified.
    requestBody: { method, reason, claimed_subject: subject, kid, count },
    queryParams: {},
    userId: null,
    userType: 'system',
    resourceType: 'jwt',
    action: 'authenticate',
    clientIp: clientAddress,
  };
}

function parse(bytes: Uint8Array): readonly TokenRefusal[] {
  try {
    return v.parse(tokenRefusals, JSON.parse(Buffer.from(bytes).toString('utf8'))).refusals;
  } catch {
    throw invalid('body: expected a list of rejected tokens');
  }
}
