import type { Plane, Tenant } from './plane.ts';

/** What was made for a sample before it: ids and slugs by name. */
export type Made = Readonly<Record<string, string>>;

/** How one resource is made, found and changed; keeps tests of the API as a whole free of what each resource is like. */
export interface Sample {
  /** Path of the create, as in the API description. */
  readonly create: string;
  /** Path of the item; null where an item cannot be read alone. */
  readonly item: string | null;
  /** Path of the list the item shows up in. */
  readonly list: string;
  /** A body that passes, for the n-th one. `mark` is to stand in a text that replies show. */
  body(tenant: Tenant, made: Made, n: number, mark: string): Record<string, unknown>;
  /** A change that passes; null where there is no PUT. */
  update(tenant: Tenant, made: Made, mark: string): Record<string, unknown> | null;
  /** What the DELETE wants to be told of the n-th one; null where it takes no body. */
  remove?(n: number, mark: string): Record<string, unknown>;
  /** Whether it is in a workspace, which organisation keys then have to name. */
  readonly ofWorkspace: boolean;
  /** Whether lists still show it when it was deleted, as something that is over. */
  readonly staysListed?: true;
  /** Names the item in a reply to the create. */
  idOf(receipt: Record<string, never>): string;
}

/** `data` of older routes, else the reply itself. */
function inner(receipt: Record<string, unknown>): Record<string, unknown> {
  return (receipt.data as Record<string, unknown> | undefined) ?? receipt;
}

const idOf = (receipt: Record<string, unknown>) => String(inner(receipt).id);
const slugOf = (receipt: Record<string, unknown>) => String(inner(receipt).slug);

/** Every resource that can be made through the API, in an order in which what comes later may name what came before. */
export const samples: readonly Sample[] = [
  {
    create: '/admin/workspaces',
    item: '/admin/workspaces/{workspaceId}',
    list: '/admin/workspaces',
    body: (_, __, n, mark) => ({ name: `${mark} workspace ${n}`, description: mark }),
    update: (_, __, mark) => ({ description: `${mark} changed` }),
    remove: (n, mark) => ({ name: `${mark} workspace ${n}` }),
    ofWorkspace: false,
    idOf,
  },
  {
    create: '/workspaces',
    item: '/workspaces/{workspaceId}',
    list: '/workspaces',
    body: (_, __, n, mark) => ({ name: `${mark} further workspace ${n}`, description: mark }),
    update: (_, __, mark) => ({ description: `${mark} changed` }),
    remove: (n, mark) => ({ name: `${mark} further workspace ${n}` }),
    ofWorkspace: false,
    idOf,
  },
  {
    create: '/admin/users',
    item: '/admin/users/{userId}',
    list: '/admin/users',
    body: (tenant, _, n, mark) => ({
      email: `${mark}-${n}@example.com`,
      first_name: mark,
      last_name: 'Person',
      role: 'member',
      workspaces: [{ id: tenant.workspaceId, role: 'member' }],
    }),
    update: (_, __, mark) => ({ first_name: `${mark} changed` }),
    ofWorkspace: false,
    idOf,
  },
  {
    create: '/admin/users/invites',
    item: '/admin/users/invites/{inviteId}',
    list: '/admin/users/invites',
    body: (tenant, _, n, mark) => ({
      email: `${mark}-invited-${n}@example.com`,
      role: 'member',
      workspaces: [{ id: tenant.workspaceId, role: 'member' }],
    }),
    update: () => null,
    ofWorkspace: false,
    staysListed: true,
    idOf,
  },
  {
    create: '/integrations',
    item: '/integrations/{slug}',
    list: '/integrations',
    body: (_, __, n, mark) => ({
      name: `${mark} integration ${n}`,
      slug: `${mark}-integration-${n}`,
      ai_provider_id: 'openai',
      key: `sk-${mark}-secret-${n}`,
      create_default_provider: false,
    }),
    update: (_, __, mark) => ({ description: `${mark} changed` }),
    ofWorkspace: false,
    idOf: slugOf,
  },
  {
    create: '/secret-references',
    item: '/secret-references/{secretReferenceId}',
    list: '/secret-references',
    body: (tenant, _, n, mark) => ({
      name: `${mark} secret reference ${n}`,
      slug: `${mark}-secret-reference-${n}`,
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example.com', vault_token: `hvs.${mark}-secret-${n}` },
      secret_path: 'secret/data/models',
      allowed_workspaces: [tenant.workspaceId],
    }),
    update: (tenant, _, mark) => ({ description: `${mark} changed`, allowed_workspaces: [tenant.workspaceId] }),
    ofWorkspace: false,
    idOf: slugOf,
  },
  {
    create: '/providers',
    item: '/providers/{slug}',
    list: '/providers',
    body: (tenant, made, n, mark) => ({
      workspace_id: tenant.workspaceId,
      name: `${mark} provider ${n}`,
      slug: `${mark}-provider-${n}`,
      integration_id: made['/integrations'],
    }),
    update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, note: `${mark} changed` }),
    ofWorkspace: true,
    idOf: slugOf,
  },
  {
    create: '/virtual-keys',
    item: '/virtual-keys/{slug}',
    list: '/virtual-keys',
    body: (tenant, made, n, mark) => ({
      workspace_id: tenant.workspaceId,
      name: `${mark} virtual key ${n}`,
      slug: `${mark}-virtual-key-${n}`,
      provider: 'openai',
      secret_mappings: [{ target_field: 'key', secret_reference_id: made['/secret-references'] }],
    }),
    update: (tenant, made, mark) => ({
      workspace_id: tenant.workspaceId,
      note: `${mark} changed`,
      secret_mappings: [{ target_field: 'key', secret_reference_id: made['/secret-references'], secret_key: mark }],
    }),
    ofWorkspace: true,
    idOf: slugOf,
  },
  {
    create: '/configs',
    item: '/configs/{slug}',
    list: '/configs',
    body: (tenant, _, n, mark) => ({
      workspace_id: tenant.workspaceId,
      name: `${mark} config ${n}`,
      slug: `${mark}-config-${n}`,
      config: { provider: '@mock' },
    }),
    update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
    ofWorkspace: true,
    idOf: slugOf,
  },
  ...(['organisation/service', 'workspace/service'] as const).map(
    (type): Sample => ({
      create: `/api-keys/${type}`,
      item: '/api-keys/{id}',
      list: '/api-keys',
      body: (tenant, _, n, mark) => ({
        ...(type === 'workspace/service' ? { workspace_id: tenant.workspaceId } : {}),
        name: `${mark} key ${n}`,
        scopes: ['configs.list'],
      }),
      update: (_, __, mark) => ({ name: `${mark} changed` }),
      ofWorkspace: type === 'workspace/service',
      idOf,
    }),
  ),
  {
    create: '/api-keys/workspace/user',
    item: '/api-keys/{id}',
    list: '/api-keys',
    body: (tenant, made, n, mark) => ({
      workspace_id: tenant.workspaceId,
      user_id: made['/admin/users'],
      name: `${mark} key ${n}`,
      scopes: ['configs.list'],
    }),
    update: (_, __, mark) => ({ name: `${mark} changed` }),
    ofWorkspace: true,
    idOf,
  },
];

/** One of everything in a tenant, by the path that made it. Throws when one cannot be made. */
export async function makeOneOfEverything(plane: Plane, tenant: Tenant, mark: string): Promise<Made> {
  const made: Record<string, string> = {};
  for (const sample of samples) {
    const reply = await plane.ask('POST', sample.create, { key: tenant.adminKey, body: sample.body(tenant, made, 1, mark) });
    if (reply.status !== 200) throw new Error(`POST ${sample.create} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
    made[sample.create] = sample.idOf(reply.body);
  }
  return made;
}
