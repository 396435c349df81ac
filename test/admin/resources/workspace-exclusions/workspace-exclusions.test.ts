import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { type Probe, refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const input = '/workspace-exclusions/input-guardrails';
const output = '/workspace-exclusions/output-guardrails';

const probes: readonly Probe[] = [
  { method: 'GET', path: input },
  { method: 'PUT', path: output, body: { workspaces: [] } },
];
refusesUnknownKeys('workspace exclusions', probes);
refusesMissingScopes('workspace exclusions', probes);

describe.each(ruleDatabases)('workspace exclusions, on %s', (database) => {
  let plane: Plane;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/workspaces', { body: { name: 'Second', slug: 'ws-second' } })).body.id;
  });
  afterAll(() => plane?.close());

  const put = (path: string, body: object) =>
    plane.ask('PUT', path, { body: { organisation_id: plane.organisationId, ...body } });
  const excluded = async (path: string) =>
    (await plane.ask('GET', `${path}?organisation_id=${plane.organisationId}`)).body.data.map(
      (row: { slug: string }) => row.slug,
    );
  const changed = (...ids: string[]) => ({
    resource: 'workspace_exclusions',
    action: 'update',
    events: ids.map((id) => `workspace ${id} upsert`),
  });

  it('are merged with existing ones, by id or slug, for one kind only', async () => {
    const one = { workspaces: [{ workspace_id: 'ws-default', excluded: true }] };
    await expectChange(plane, () => put(input, one), changed(plane.workspaceId));
    await expectChange(plane, () => put(input, { workspaces: [{ workspace_id: second, excluded: true }] }), changed(second));
    expect(await excluded(input)).toEqual(['ws-default', 'ws-second']);
    expect(await excluded(output)).toEqual([]);
    await expectChange(plane, () => put(input, one), changed());
  });

  it('end with excluded: false', async () => {
    await expectChange(plane, () => put(input, { workspaces: [{ workspace_id: second, excluded: false }] }), changed(second));
    expect(await excluded(input)).toEqual(['ws-default']);
  });

  it('are replaced as a whole on request', async () => {
    const body = { workspaces: [{ workspace_id: second, excluded: true }], override_existing: true };
    await expectChange(plane, () => put(input, body), changed(second, plane.workspaceId));
    expect(await excluded(input)).toEqual(['ws-second']);
    await put(input, { workspaces: [], override_existing: true });
    expect(await excluded(input)).toEqual([]);
  });

  it('are rejected for a workspace named twice, by id and by slug', async () => {
    const workspaces = [
      { workspace_id: 'ws-second', excluded: true },
      { workspace_id: second, excluded: false },
    ];
    const reply = await expectRefusal(plane, () => put(input, { workspaces }), 400, 'AB01', true);
    expect(reply.body.data.message).toBe('workspaces[1].workspace_id: duplicate');
  });

  it('are rejected for unknown workspaces, for workspace keys, and malformed bodies', async () => {
    const foreign = await plane.newTenant();
    for (const workspace_id of ['ws-none', foreign.workspaceId]) {
      const body = { workspaces: [{ workspace_id, excluded: true }] };
      await expectRefusal(plane, () => put(output, body), 404, 'AB02', true);
    }
    expect(await excluded(output)).toEqual([]);
    const body = { workspaces: [] };
    await expectRefusal(plane, () => plane.ask('PUT', input, { key: plane.workspaceKey, body }), 403, 'AB03', true);
    const twice = { workspace_id: second, excluded: true };
    for (const bad of [{}, { workspaces: [{ workspace_id: second }] }, { workspaces: [twice, twice] }]) {
      await expectRefusal(plane, () => put(input, bad), 400, 'AB01', true);
    }
    const other = { organisation_id: foreign.organisationId, workspaces: [] };
    await expectRefusal(plane, () => put(input, other), 404, 'AB08', true);
  });
});
