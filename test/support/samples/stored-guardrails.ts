import { adminClient } from '../clients/admin-client.ts';
import { type GatewayWithUpstream, storedKeys } from '../product/gateway-with-upstream.ts';
import { actionsOf, checkOf, configOf, type Row } from './guardrail-matrix.ts';

interface PreparedRow {
  readonly row: Row;
  /** Key of a workspace that no process has loaded before its guardrails were saved, so that nothing waits for a change notice. */
  readonly apiKey: string;
  readonly config: string;
}

/**
 * Yields rows of the guardrail matrix after it has prepared them through the admin API: it saves the guardrail or makes it a default.
 * Rows with saved guardrails come first and share a workspace. Defaults of the organisation, which all workspaces get, come last.
 */
export async function* preparedRows(gateway: GatewayWithUpstream, rows: readonly Row[]): AsyncGenerator<PreparedRow> {
  const integration = await gateway.admin.createIntegration({
    ...{ slug: 'of-rows', ai_provider_id: 'openai', key: storedKeys.openai, create_default_provider: false },
    configurations: { custom_host: gateway.upstream.openaiHost },
  });
  const of = (source: Row['source']) => rows.filter((row) => row.source === source);
  let names = 0;

  async function newWorkspace() {
    const workspaceId = String((await gateway.admin.create('/admin/workspaces', { name: `rows ${++names}` })).id);
    const admin = adminClient(gateway.controlPlaneUrl, gateway.adminKey, workspaceId);
    await admin.createProvider({ slug: 'oai', integration_id: integration });
    return { workspaceId, apiKey: (await admin.createKey()).key };
  }
  async function save(row: Row, owner: { workspace_id?: string }): Promise<string> {
    const body = { name: `row ${++names}`, ...owner, checks: [checkOf(row)], actions: actionsOf(row) };
    return String((await gateway.admin.create('/guardrails', body)).slug);
  }

  const shared = await newWorkspace();
  const saved = new Map<Row, string>();
  for (const row of of('saved')) saved.set(row, await save(row, { workspace_id: shared.workspaceId }));
  for (const [row, slug] of saved)
    yield { row, apiKey: shared.apiKey, config: textOf(row).replaceAll('"g"', JSON.stringify(slug)) };

  for (const row of of('default of the workspace')) {
    const { workspaceId, apiKey } = await newWorkspace();
    const defaults = listsOf(row, await save(row, { workspace_id: workspaceId }));
    await put(gateway, `/admin/workspaces/${workspaceId}`, { defaults });
    yield { row, apiKey, config: textOf(row) };
  }
  for (const row of of('default of the organisation')) {
    await put(gateway, '/admin/organisation/defaults', listsOf(row, await save(row, {})));
    yield { row, apiKey: (await newWorkspace()).apiKey, config: textOf(row) };
  }
}

const textOf = (row: Row): string => JSON.stringify(configOf(row)).replaceAll('"@one"', '"@oai"');

const listsOf = ({ side }: Row, slug: string) => ({
  ...{ input_guardrails: [], output_guardrails: [] },
  [`${side}_guardrails`]: [slug],
});

async function put({ admin }: GatewayWithUpstream, path: string, body: Parameters<typeof admin.put>[1]): Promise<void> {
  const reply = await admin.put(path, body);
  if (reply.status !== 200) throw new Error(`PUT ${path} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
}
