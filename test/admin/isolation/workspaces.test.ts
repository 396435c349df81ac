import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../admin/resources/api-keys/entity.ts';
import { configVersions } from '../../../admin/resources/configs/entity.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane, type Tenant } from '../support/plane.ts';
import { makeOneOfEverything } from '../support/samples.ts';
import { databases } from '../support/test-database.ts';
import { type Belongings, type Step, stepsOf } from './walk.ts';

/** Stands in every text of the victim that a reply could show. */
const mark = 'victim';

describe.each(databases)('what belongs to another workspace of the same organisation, on %s', (database) => {
  let plane: Plane;
  let victim: Belongings;
  let attacker: Belongings;
  let steps: Step[];
  const callers = new Map<string, string>();
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
    const made = await plane.ask('POST', '/workspaces', { body: { name: mark } });
    const mock = { name: `${mark} mock`, slug: 'mock', integration_id: 'mock', workspace_id: made.body.id };
    expect((await plane.ask('POST', '/providers', { body: mock })).status).toBe(200);
    victim = await belongings({ ...plane, workspaceId: made.body.id as string }, mark);
    attacker = await belongings(plane, 'attacker');
    // Both have the same organisation, so naming it is no attack.
    steps = stepsOf(attacker, victim).filter((step) => !step.what.includes('organisation_id') && !isOfBoth(step));
    const { workspaceId } = plane;
    callers.set('a workspace key', plane.workspaceKey);
    callers.set('a user key', await userKey());
    for (const role of ['admin', 'manager', 'member', 'viewer'] as const) {
      callers.set(`a workspace ${role}`, (await newPerson(plane, 'member', [{ id: workspaceId, role }])).token);
    }
  });
  afterAll(() => plane?.close());

  async function belongings(tenant: Tenant, as: string): Promise<Belongings> {
    const made = await makeOneOfEverything(plane, tenant, as);
    const em = plane.control.services.database.emOf(tenant.organisationId);
    const { organisationId, workspaceId } = tenant;
    const version = await em.findOneOrFail(configVersions, { organisationId, workspaceId });
    const key = await em.findOneOrFail(apiKeys, { organisationId, workspaceId, type: 'workspace-service' });
    return { ...tenant, made, others: { versionId: version.id, sessionId: key.id, id: key.id } };
  }

  async function userKey(): Promise<string> {
    const body = {
      workspace_id: plane.workspaceId,
      user_id: attacker.made['/admin/users'],
      name: 'attacking key',
      scopes: ['configs.read', 'configs.list', 'configs.update', 'providers.read', 'providers.list', 'workspaces.read'],
    };
    const made = await plane.ask('POST', '/api-keys/workspace/user', { body });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return made.body.key as string;
  }

  /** Routes about oneself or the organisation: they work on no workspace, whichever is named. */
  function isOfBoth({ route }: Step): boolean {
    if (route.signedIn !== undefined) return true;
    return [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name).join() === 'organisationId';
  }

  /** Every row of the victim's workspace, in every table. */
  async function rowsOfVictim(): Promise<Record<string, unknown[]>> {
    const em = plane.control.services.database.em();
    const tables = await em.execute<{ name: string }[]>(
      "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'workspace_id'",
    );
    const out: Record<string, unknown[]> = {};
    for (const { name } of tables) {
      const rows = await em.execute<{ row: string }[]>(
        `select to_jsonb(t)::text as row from ${name} t where workspace_id::text = ? order by 1`,
        [victim.workspaceId],
      );
      out[name] = rows.map((one) => one.row);
    }
    return out;
  }

  it('cannot be reached, named, shown or changed by any key or person of another one', { timeout: 300_000 }, async () => {
    const before = await rowsOfVictim();
    expect(Object.values(before).flat().length).toBeGreaterThan(8);
    expect(steps.length).toBeGreaterThan(60);
    const faults: string[] = [];
    for (const [who, key] of callers) {
      for (const step of steps) {
        const { route, path, body } = step;
        const reply = await plane.ask(route.method, path, { key, ...(body === undefined ? {} : { body }) });
        const text = JSON.stringify(reply.body);
        const name = `${who}: ${route.method} ${path} (${step.what})`;
        if (reply.status !== 403 && reply.status !== 404) faults.push(`${name} gave ${reply.status} ${text.slice(0, 200)}`);
        if (shows(text, step)) faults.push(`${name} showed ${text.slice(0, 200)}`);
      }
    }
    expect(faults.slice(0, 40)).toEqual([]);
    expect(await rowsOfVictim()).toEqual(before);
  });

  it('shows in no list of another one', async () => {
    const faults: string[] = [];
    const lists = new Set(
      stepsOf(attacker, victim)
        .filter((step) => step.route.method === 'GET' && !step.route.path.includes(':'))
        .map((step) => step.route.path),
    );
    expect(lists.size).toBeGreaterThan(5);
    for (const [who, key] of callers) {
      for (const path of lists) {
        const text = JSON.stringify((await plane.ask('GET', path, { key })).body);
        if (shows(text, null)) faults.push(`${who}: GET ${path} showed ${text.slice(0, 300)}`);
      }
    }
    expect(faults).toEqual([]);
  });

  /** Whether a reply holds anything of the victim that the request did not itself say. */
  function shows(text: string, step: Step | null): boolean {
    const said = step === null ? '' : `${step.path} ${JSON.stringify(step.body ?? '')}`;
    const ids = [victim.workspaceId, ...Object.values(victim.made), ...Object.values(victim.others)];
    if (ids.some((id) => text.includes(id) && !said.includes(id))) return true;
    return text.includes(mark) && !said.includes(mark);
  }
});
