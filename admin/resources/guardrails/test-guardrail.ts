import {
  guardrailTestReply,
  guardrailTestsMs,
  guardrailTestsPath,
  type InvocationReply,
} from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { lacksScope } from '../../http/caller/require-scope.ts';
import { AdminError, asReference, invalid } from '../../http/errors.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { sealedFor } from './check-content.ts';
import type { Guardrail } from './entity.ts';
import type { TestBody } from './schema.ts';
import { findGuardrail, findVersion, requireScope } from './service.ts';

interface Call {
  readonly em: EntityManager;
  readonly actor: Actor;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly services: Pick<AdminServices, 'settings' | 'log' | 'vault'>;
}

/**
 * Has a gateway run a saved guardrail, or unsaved checks, on a text. Throws AB02 for a guardrail that does not exist, AB01 with a line per
 * issue of the checks, AB03 for callers who may neither change guardrails nor run them, and AB10 if no gateway replies in time.
 */
export async function testGuardrail(call: Call, body: TestBody): Promise<InvocationReply> {
  const { em, organisationId, services } = call;
  if ((body.guardrail === undefined) === (body.checks === undefined))
    throw invalid('checks: expected either checks or guardrail');
  let { workspaceId } = call;
  let guardrail: string | null = null;
  if (body.guardrail === undefined) {
    requireScope(call.actor, { workspaceId }, 'create');
  } else {
    const row = await findGuardrail(em, call, body.guardrail, 'read').catch(asReference('guardrail', 'Guardrail'));
    requireRun(call.actor, row);
    if (body.guardrail_version_id) {
      await findVersion(em, row, body.guardrail_version_id).catch(asReference('guardrail_version_id', 'Version'));
    }
    guardrail = row.id;
    workspaceId = row.workspaceId ?? null;
  }
  const { errors, reply } = await askGateway(services, {
    path: guardrailTestsPath,
    body: {
      ...{ organisationId, workspaceId, guardrail, versionId: body.guardrail_version_id ?? null },
      ...{ checks: body.checks ?? [], actions: body.actions, sealed: await sealedFor(call, body.checks ?? []) },
      ...{ side: body.side, text: body.text },
      ...{ model: body.model ?? null, metadata: body.metadata },
    },
    reply: guardrailTestReply,
    timeoutMs: guardrailTestsMs,
    what: 'test the guardrail',
  });
  if (reply === null) throw new AdminError('AB01', errors[0] ?? 'The guardrail cannot run', errors);
  return reply;
}

/** Throws AB03 for callers who may only read: a run can call partners, models and webhooks with the stored credentials. */
function requireRun(actor: Actor, { workspaceId }: Pick<Guardrail, 'workspaceId'>): void {
  const group = workspaceId ? 'guardrails' : 'organisation_guardrails';
  const scopes = [`${group}.create`, `${group}.update`, 'guardrails.invoke'];
  if (!scopes.some((scope) => actor.scopes.has(scope))) throw lacksScope(actor, scopes);
}
