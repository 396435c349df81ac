import { LockMode } from '@mikro-orm/core';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant, WorkspaceTenant } from '../../db/tenant.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { AdminError, asReference, invalid, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { checkContent } from '../guardrails/check-content.ts';
import { findGuardrail } from '../guardrails/service.ts';
import { type PromptTestSet, promptTestSets, type StoredCheck } from './entity.ts';
import type { CreateBody, UpdateBody } from './schema.ts';

interface Call extends Tenant {
  readonly em: EntityManager;
  readonly actor: Actor;
  readonly services: Pick<AdminServices, 'settings' | 'log' | 'vault'>;
}

/** Returns a test set by id or slug. `for update` locks it. Throws AB08. */
export async function findTestSet(
  em: EntityManager,
  tenant: Tenant,
  idOrSlug: string,
  lock?: 'for update',
): Promise<PromptTestSet> {
  const found = await em.findOne(promptTestSets, itemOf(tenant, idOrSlug), lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('Test set');
  return found;
}

/**
 * Has a gateway check the checks of a set and its rows, and looks up its guardrails. Throws AB01 with the path of each invalid check, AB02 for
 * an unknown guardrail, and AB10 if there are checks and no gateway replies.
 */
export async function checkTestSet(call: Call, sent: UpdateBody): Promise<void> {
  for (const [at, named] of (sent.guardrails ?? []).entries()) {
    await findGuardrail(call.em, call, named, 'read').catch(asReference(`guardrails[${at}]`, 'Guardrail'));
  }
  const rows = (sent.rows ?? []).flatMap(({ checks }, at) => placed(checks, `rows[${at}].checks`));
  const all = [...placed(sent.checks ?? [], 'checks'), ...rows];
  if (all.length === 0) return;
  const checks = all.map(({ check }) => check);
  const sides = await checkContent(call, checks, 'llm').catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code !== 'AB01') throw error;
    throw invalid(
      ...(error.errors ?? [error.message]).map((line) =>
        line.replace(/^checks\[(\d+)\]/, (whole, at) => all[Number(at)]?.path ?? whole),
      ),
    );
  });
  if (!sides.includes('output')) throw invalid('checks: must be checks of outputs');
}

function placed(checks: readonly StoredCheck[], path: string) {
  return checks.map((check, at) => ({ check, path: `${path}[${at}]` }));
}

/** Saves a new test set. */
export function createTestSet(change: Change, { organisationId, workspaceId }: WorkspaceTenant, actor: Actor, sent: CreateBody) {
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const { name, rows, checks, guardrails } = sent;
  const row = change.tx.create(promptTestSets, {
    ...{ id: newId(), organisationId, workspaceId, slug: newSlug('pt-', name), name, rows, checks, guardrails },
    ...{ ownerId: author, updatedBy: author, createdAt: now, lastUpdatedAt: now },
  });
  change.about(row);
  return row;
}

/** Updates the sent fields. Runs keep the rows that they began with. */
export function updateTestSet(change: Change, row: PromptTestSet, actor: Actor, sent: UpdateBody): void {
  const { name = row.name, rows = row.rows, checks = row.checks, guardrails = row.guardrails } = sent;
  change.tx.assign(row, { name, rows, checks, guardrails });
  row.updatedBy = actor.userId ?? actor.keyId;
  row.lastUpdatedAt = new Date();
  change.about(row);
}
