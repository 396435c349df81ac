/**
 * Measures how long after the reply to a SCIM request that deactivates a user each of several gateways still accepts the user's API key,
 * session and OAuth access token. Each gateway is a process tree of its own.
 *
 *     node bench/deprovision.ts [--rounds 10] [--gateways 3] [--bus nats|poll]
 */
import { parseArgs } from 'node:util';
import { newPersonWithCredentials } from '../test/support/samples/person-with-credentials.ts';
import { startMcpUpstream } from '../test/support/tool-servers/mcp-upstream.ts';
import { startCluster } from './hot-reload/instances.ts';
import { startNats } from './services/nats.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    gateways: { type: 'string', default: '3' },
    bus: { type: 'string', default: 'nats' },
  },
});
const upstream = await startMcpUpstream();
const nats = values.bus === 'nats' ? await startNats() : null;
const cluster = await startCluster(Number(values.gateways), nats ? { NATS_URL: nats.url } : {});
const times = new Map<string, number[]>();
try {
  const { first, instances } = cluster;
  const { admin, origin, workspaceId } = first;
  const { slug } = (await admin.get(`/admin/workspaces/${workspaceId}`)).body;
  const fields = { name: 'Tools', slug: 'tools', workspace_id: workspaceId };
  const target = { url: upstream.url, transport: 'http', auth_type: 'none' };
  const { id } = await admin.create('/mcp-integrations', { ...fields, ...target });
  await admin.create('/mcp-servers', { ...fields, mcp_integration_id: id });
  const scim = (await admin.post('/scim/tokens', { name: 'directory' })).body;

  for (let round = 0; round < Number(values.rounds); round++) {
    const service = { admin, origin, workspaceId, mcpPath: `/${slug}/tools/mcp` };
    const person = await newPersonWithCredentials(service, `person-${round}@example.com`);
    const watched = instances.flatMap(({ origin: at }) => person.credentials.map((credential) => ({ at, credential })));
    for (const { at, credential } of watched) {
      const status = await credential.statusAt(at);
      if (status !== 200) throw new Error(`${credential.what} at ${at}: ${status} before the change`);
    }
    const reply = await fetch(`${origin}/v1/scim/${scim.base_url.split('/').at(-1)}/Users/${person.id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${scim.token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ Operations: [{ op: 'Replace', path: 'active', value: 'False' }] }),
    });
    const repliedAt = performance.now();
    if (reply.status !== 200) throw new Error(`SCIM: ${reply.status} ${await reply.text()}`);
    await Promise.all(
      watched.map(async ({ at, credential }) => {
        let sentAt = performance.now();
        while ((await credential.statusAt(at)) !== 401) sentAt = performance.now();
        // The first refused request was sent after this time.
        times.set(credential.what, [...(times.get(credential.what) ?? []), sentAt - repliedAt]);
      }),
    );
  }
  for (const [what, list] of times) {
    const sorted = list.toSorted((a, b) => a - b);
    const at = (share: number) =>
      (sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(0);
    process.stdout.write(
      `${what.padEnd(20)} ${sorted.length} gateways × rounds: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms after the reply\n`,
    );
  }
} finally {
  await cluster.close();
  await nats?.close();
  await upstream.close();
}
process.exit(0);
