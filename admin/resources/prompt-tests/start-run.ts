import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, forbidden, invalid, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { addJob } from '../../jobs/add-job.ts';
import type { Change } from '../../publish/write-change.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { guardrails } from '../guardrails/entity.ts';
import { findPrompt } from '../prompts/service.ts';
import { findVersion } from '../prompts/versions.ts';
import { type PromptTestRun, type PromptTestSet, promptTestResults, promptTestRuns, type RunGuardrail } from './entity.ts';
import type { RunBody } from './schema.ts';

export const promptTestKind = 'run-prompt-tests';

/**
 * Adds a run of a version over the rows of a test set, and its job. The run keeps the version, the rows and the checks of now. Throws AB01 or
 * AB02 at `prompt`, `api_key_id` and `guardrails`, and AB03 for the key of another user.
 */
export async function startRun(change: Change, set: PromptTestSet, actor: Actor, sent: RunBody): Promise<PromptTestRun> {
  const { tx } = change;
  const { organisationId, workspaceId } = set;
  const [idOrSlug = '', version = 'default'] = sent.prompt.split('@', 2);
  const prompt = await findPrompt(tx, set, idOrSlug).catch(asReference('prompt', 'Prompt'));
  const { id: promptVersionId, number } = await findVersion(tx, prompt, version).catch(asReference('prompt', 'Version'));
  const run = tx.create(promptTestRuns, {
    ...{ id: newId(), organisationId, workspaceId, testSetId: set.id },
    ...{ promptId: prompt.id, promptSlug: prompt.slug, promptVersion: number, promptVersionId },
    ...{ status: 'in_progress', error: null, rowsTotal: set.rows.length },
    keyId: await keyFor(tx, set, actor, sent.api_key_id),
    guardrails: await guardrailsOf(tx, set),
    ...{ ownerId: actor.userId ?? actor.keyId, createdAt: new Date(), finishedAt: null },
  });
  await tx.flush();
  for (const [rowNumber, { name, variables, checks }] of set.rows.entries()) {
    tx.create(promptTestResults, {
      ...{ runId: run.id, rowNumber, organisationId, workspaceId, name, variables, checks: [...set.checks, ...checks] },
      ...{ attempts: 0, nextAt: null, status: null, content: null, latencyMs: null, costNano: null },
      ...{ inputTokens: 0, outputTokens: 0, verdict: null, finishedAt: null },
    });
  }
  await tx.flush();
  await addJob(tx, { kind: promptTestKind, key: run.id, organisationId });
  change.about(run);
  return run;
}

/** Row id of the key that makes the calls: the caller's own, or one that the caller could create. */
async function keyFor(tx: EntityManager, set: PromptTestSet, actor: Actor, named: string | undefined): Promise<string> {
  const { organisationId, workspaceId } = set;
  const key = await tx.findOne(apiKeys, { id: named ?? actor.keyId, organisationId, workspaceId });
  const needed = 'an API key of the workspace with the scope completions.write';
  if (!key) {
    if (named === undefined) throw invalid(`api_key_id: required, because the caller is not ${needed}`);
    throw unknownReference('api_key_id', 'API key');
  }
  const isOwn = key.id === actor.keyId || (actor.userId !== null && key.userId === actor.userId);
  const isService = key.type === 'workspace-service';
  if (!isOwn && !(isService && actor.scopes.has('workspace_service_api_keys.create'))) {
    throw forbidden('api_key_id: name your own key, or a service key if you hold the scope workspace_service_api_keys.create');
  }
  if (!key.scopes.includes('completions.write')) throw invalid(`api_key_id: must be ${needed}`);
  return key.id;
}

async function guardrailsOf(tx: EntityManager, set: PromptTestSet): Promise<RunGuardrail[]> {
  const { organisationId, workspaceId, guardrails: slugs } = set;
  const found: RunGuardrail[] = [];
  for (const [at, slug] of slugs.entries()) {
    const named = itemOf({ organisationId, workspaceId: null }, slug);
    const row = await tx.findOne(guardrails, { ...named, status: 'active', $or: [{ workspaceId }, { workspaceId: null }] });
    if (!row) throw unknownReference(`guardrails[${at}]`, 'Guardrail');
    found.push({ id: row.id, workspaceId: row.workspaceId ?? null });
  }
  return found;
}
