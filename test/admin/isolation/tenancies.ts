import type { AdminRoute } from '../../../admin/http/route.ts';
import { apiKeys } from '../../../admin/resources/api-keys/entity.ts';
import { configVersions } from '../../../admin/resources/configs/entity.ts';
import { guardrailVersions } from '../../../admin/resources/guardrails/entity.ts';
import { promptVersions } from '../../../admin/resources/prompts/entity.ts';
import { adminRoutes } from '../../../admin/tables.ts';
import type { Plane, Tenant } from '../support/plane.ts';
import { makeOneOfEverything } from '../support/samples.ts';
import { type Callers, organisationCallers, workspaceCallers } from './callers.ts';
import { type Belongings, canName, type Step, stepsOf } from './walk.ts';

/** Part of every text of the victim that a reply could show. */
export const mark = 'victim';

/** The tenant whose callers try to reach a victim. It is the same for all tenancies. */
export interface Attacker extends Belongings {
  readonly callers: { readonly ofOrganisation: Callers; readonly ofWorkspace: Callers };
}

export async function newAttacker(plane: Plane): Promise<Attacker> {
  const own = await belongings(plane, plane, 'attacker');
  const ofWorkspace = await workspaceCallers(plane);
  return { ...own, callers: { ofWorkspace, ofOrganisation: await organisationCallers(plane, ofWorkspace) } };
}

/** Two tenants of one kind. All callers of the attacker try to reach the victim. */
export interface Tenancy {
  readonly victim: Belongings;
  readonly callers: Callers;
  /** Requests that name something of the victim. */
  readonly steps: readonly Step[];
  /** Routes that can name something of the victim. Each needs at least one step. */
  readonly routes: readonly AdminRoute[];
  /** Ids that no reply to the attacker may contain. */
  readonly secretIds: readonly string[];
  /** Column that marks the victim's rows, and its value. */
  readonly rows: { readonly column: 'organisation_id' | 'workspace_id'; readonly id: string };
}

/** The isolated tenancies by name; each function creates the victim. */
export const tenancies: Readonly<Record<string, (plane: Plane, attacker: Attacker) => Promise<Tenancy>>> = {
  async 'another organisation'(plane, attacker) {
    const victim = await belongings(plane, await plane.newTenant(), mark);
    return {
      victim,
      callers: attacker.callers.ofOrganisation,
      steps: stepsOf(attacker, victim),
      routes: adminRoutes.filter((route) => canName(route, ['organisation_id', 'workspace_id'])),
      secretIds: [victim.organisationId, ...idsOf(victim)],
      rows: { column: 'organisation_id', id: victim.organisationId },
    };
  },

  async 'another workspace of the same organisation'(plane, attacker) {
    const made = await plane.ask('POST', '/workspaces', { body: { name: mark } });
    const mock = { name: `${mark} mock`, slug: 'mock', integration_id: 'mock', workspace_id: made.body.id };
    const added = await plane.ask('POST', '/providers', { body: mock });
    if (added.status !== 200) throw new Error(`no provider: ${JSON.stringify(added.body)}`);
    const victim = await belongings(plane, { ...plane, workspaceId: made.body.id as string }, mark);
    return {
      victim,
      callers: attacker.callers.ofWorkspace,
      // Both are in the same organisation, so naming it is no attack.
      steps: stepsOf(attacker, victim).filter((step) => !step.what.includes('organisation_id') && !isOfBoth(step)),
      routes: adminRoutes.filter((route) => route.tenant !== 'organisation' && canName(route, ['workspace_id'])),
      secretIds: idsOf(victim),
      rows: { column: 'workspace_id', id: victim.workspaceId },
    };
  },
};

/** Routes about the caller or the organisation ignore the workspace, and users belong to the organisation. */
function isOfBoth({ route, what }: Step): boolean {
  if (route.signedIn !== undefined || /^names users\.\d+\.id in the body/.test(what)) return true;
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name).join() === 'organisationId';
}

function idsOf(victim: Belongings): string[] {
  return [victim.workspaceId, ...Object.values(victim.made), ...Object.values(victim.others)];
}

async function belongings(plane: Plane, tenant: Tenant, as: string): Promise<Belongings> {
  const made = await makeOneOfEverything(plane, tenant, as);
  const { organisationId, workspaceId } = tenant;
  const em = plane.control.services.database.emOf(organisationId);
  const version = await em.findOneOrFail(configVersions, { organisationId, workspaceId });
  const guardrailVersion = await em.findOneOrFail(guardrailVersions, { organisationId, workspaceId });
  const promptVersion = await em.findOneOrFail(promptVersions, { organisationId, workspaceId });
  const key = await em.findOneOrFail(apiKeys, { organisationId, workspaceId, type: 'workspace-service' });
  return {
    ...tenant,
    made,
    others: {
      ...{ versionId: version.id, guardrailVersionId: guardrailVersion.id, promptVersionId: promptVersion.id },
      ...{ sessionId: key.id, id: key.id },
    },
  };
}
