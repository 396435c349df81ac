import { adminClient } from './admin-client.ts';
import { type GatewayWithUpstream, storedKeys } from './gateway-with-upstream.ts';
import { actionsOf, checkOf, configOf, type Row } from './guardrail-matrix.ts';

interface PreparedRow {
  /** Key of a workspace that no process has loaded yet, so that nothing waits for a change notice. */
  readonly apiKey: string;
  readonly config: string;
}

/** Prepares a row of the guardrail matrix through the admin API: saves its guardrail, or makes it a default, and creates its workspace. */
export async function prepareRow(gateway: GatewayWithUpstream, row: Row): Promise<PreparedRow> {
  const { controlPlaneUrl, adminKey, upstream } = gateway;
  const { source, side } = row;
  const ofOrganisation = source === 'default of the organisation';
  const name = `row ${++rows}`;
  const workspaceId = String((await gateway.admin.create('/admin/workspaces', { name })).id);
  const admin = adminClient(controlPlaneUrl, adminKey, workspaceId, `row-${rows}`);
  await admin.createUpstream('oai', upstream.openaiHost, { key: storedKeys.openai });
  const { key: apiKey } = await admin.createKey();
  let slug = '';
  if (source === 'saved' || source.startsWith('default')) {
    const owner = ofOrganisation ? {} : { workspace_id: workspaceId };
    slug = String((await admin.create('/guardrails', { name, ...owner, checks: [checkOf(row)], actions: actionsOf(row) })).slug);
  }
  const none = { input_guardrails: [], output_guardrails: [] };
  const lists = { ...none, [`${side}_guardrails`]: [slug] };
  await put(admin, '/admin/organisation/defaults', ofOrganisation ? lists : none);
  if (source === 'default of the workspace') await put(admin, `/admin/workspaces/${workspaceId}`, { defaults: lists });
  const config = JSON.stringify(configOf(row)).replaceAll('"@one"', '"@oai"');
  return { apiKey, config: source === 'saved' ? config.replaceAll('"g"', JSON.stringify(slug)) : config };
}

let rows = 0;

async function put(admin: ReturnType<typeof adminClient>, path: string, body: Parameters<typeof admin.put>[1]): Promise<void> {
  const reply = await admin.put(path, body);
  if (reply.status !== 200) throw new Error(`PUT ${path} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
}
