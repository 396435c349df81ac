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

describe.each(databases)('what belongs to another organisation, on %s', (database) => {
  let plane: Plane;
  let victim: Belongings;
  let attacker: Belongings;
  const callers = new Map<string, string>();
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
    victim = await belongings(await plane.newTenant(), mark);
    attacker = await belongings(plane, 'attacker');
    callers.set('an organisation key', plane.adminKey);
    callers.set('a workspace key', plane.workspaceKey);
    callers.set('a user key', await userKey());
    callers.set('a key without scopes that matter here', await plane.newKey(['completions.write']));
    const here = plane.workspaceId;
    callers.set('an owner', (await newPerson(plane, 'owner')).token);
    callers.set('an admin', (await newPerson(plane, 'admin')).token);
    callers.set('a manager', (await newPerson(plane, 'member', [{ id: here, role: 'manager' }])).token);
    callers.set('a member', (await newPerson(plane, 'member', [{ id: here, role: 'member' }])).token);
    callers.set('a viewer', (await newPerson(plane, 'member', [{ id: here, role: 'viewer' }])).token);
  });
  afterAll(() => plane?.close());

  async function belongings(tenant: Tenant, as: string): Promise<Belongings> {
    const made = await makeOneOfEverything(plane, tenant, as);
    const em = plane.control.services.database.emOf(tenant.organisationId);
    const version = await em.findOneOrFail(configVersions, { organisationId: tenant.organisationId });
    const key = await em.findOneOrFail(apiKeys, { organisationId: tenant.organisationId, type: 'workspace-service' });
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

  /** Every row of the victim, in every table. */
  async function rowsOfVictim(): Promise<Record<string, unknown[]>> {
    const em = plane.control.services.database.em();
    const tables = await em.execute<{ name: string }[]>(
      "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'organisation_id'",
    );
    const out: Record<string, unknown[]> = {};
    for (const { name } of tables) {
      const rows = await em.execute<{ row: string }[]>(
        `select to_jsonb(t)::text as row from ${name} t where organisation_id = ? order by 1`,
        [victim.organisationId],
      );
      out[name] = rows.map((one) => one.row);
    }
    return out;
  }

  it('cannot be reached, named, shown or changed by any key or person through any route', { timeout: 300_000 }, async () => {
    const before = await rowsOfVictim();
    const steps = stepsOf(attacker, victim);
    expect(steps.length).toBeGreaterThan(80);
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

  it('is refused for being foreign: the same questions about what is one’s own are answered', async () => {
    const answered = new Map<string, boolean>();
    for (const { route, path } of stepsOf(attacker, attacker)) {
      if (route.method !== 'GET' || route.signedIn === 'required') continue;
      const { status } = await plane.ask('GET', path);
      answered.set(route.path, (answered.get(route.path) ?? false) || status === 200);
    }
    // No request has left a log here.
    answered.delete('/logs/:id');
    expect([...answered].filter(([, well]) => !well).map(([path]) => path)).toEqual([]);
    expect(answered.size).toBeGreaterThan(20);
  });

  it('shows in no list', async () => {
    const faults: string[] = [];
    const span = 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z';
    const lists = new Set(
      stepsOf(attacker, victim)
        .filter((step) => step.route.method === 'GET' && !step.route.path.includes(':'))
        .map((step) => step.route.path),
    );
    for (const [who, key] of callers) {
      for (const path of lists) {
        const reply = await plane.ask('GET', `${path}${path === '/audit-logs' ? `?${span}` : ''}`, { key });
        const text = JSON.stringify(reply.body);
        // The trail of the attacker tells of the attempts, with the names they were made with.
        const told =
          path === '/audit-logs' ? text.replaceAll(/"(uri|request_body|query_params)":("[^"]*"|\{.*?\}(?=,"))/g, '') : text;
        if (shows(told, null)) faults.push(`${who}: GET ${path} showed ${told.slice(0, 300)}`);
      }
    }
    expect(faults).toEqual([]);
  });

  /** Whether a reply holds anything of the victim that the request did not itself say. */
  function shows(text: string, step: Step | null): boolean {
    const said = step === null ? '' : `${step.path} ${JSON.stringify(step.body ?? '')}`;
    const ids = [victim.organisationId, victim.workspaceId, ...Object.values(victim.made), ...Object.values(victim.others)];
    if (ids.some((id) => text.includes(id) && !said.includes(id))) return true;
    return text.includes(mark) && !said.includes(mark);
  }
});
