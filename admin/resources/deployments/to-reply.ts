import type { Deployment, DeploymentInstance } from './entity.ts';

type Connection = 'healthy' | 'unhealthy' | 'unknown';

/** `instances`: those of the deployment, the latest report first. `staleAt`: reports before it are too old. */
export function toRow(row: Deployment, instances: readonly DeploymentInstance[], staleAt: Date) {
  const [latest] = instances;
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    type: row.type,
    status: row.isArchived ? ('archived' as const) : ('active' as const),
    is_default: row.isDefault ? (1 as const) : (0 as const),
    connection_status: connectionOf(instances, staleAt),
    tags: row.tags,
    source_type: latest?.sourceType ?? null,
    version: latest?.version ?? null,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    last_synced_at: latest?.seenAt.toISOString() ?? null,
    last_resynced_at: null,
    object: 'deployment' as const,
  };
}

export function toDetail(row: Deployment, instances: readonly DeploymentInstance[], staleAt: Date) {
  return {
    ...toRow(row, instances, staleAt),
    organisation_id: row.organisationId,
    instances: instances.map((one) => toInstance(one, staleAt)),
    // Gateways authenticate with CLUSTER_KEY, serve every workspace, and take everything else from their settings.
    auth_settings: {},
    deployment_config: {},
    credentials: null,
    client_auth: null,
    workspaces: [],
  };
}

export function toPing(instances: readonly DeploymentInstance[], staleAt: Date) {
  const status = connectionOf(instances, staleAt);
  const error = { healthy: null, unhealthy: 'No gateway has reported in time', unknown: 'No gateway has reported' }[status];
  return {
    status,
    gateway_base_url: null,
    outbound: { status: 'unknown' as const, status_code: null, version: instances[0]?.version ?? null, error: null },
    inbound: { status, error },
    object: 'deployment-ping' as const,
  };
}

function toInstance(row: DeploymentInstance, staleAt: Date) {
  return {
    id: row.id,
    host: row.host,
    slot: row.slot,
    version: row.version,
    source_type: row.sourceType,
    tags: row.tags,
    connection_status: connectionOf([row], staleAt),
    started_at: row.startedAt.toISOString(),
    last_seen_at: row.seenAt.toISOString(),
  };
}

/** One gateway that reports makes a deployment healthy. */
function connectionOf(instances: readonly DeploymentInstance[], staleAt: Date): Connection {
  if (instances.length === 0) return 'unknown';
  return instances.some(({ seenAt }) => seenAt >= staleAt) ? 'healthy' : 'unhealthy';
}
