import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as v from 'valibot';

/**
 * `npm run -s spend [-- --by api_key,model] [--from <time>] [--to <time>]` prints the requests, tokens and cost of yesterday (UTC) by API key and
 * model. It asks the service at SVC_URL (default http://127.0.0.1:8787) with SVC_ADMIN_KEY, or the first admin key in DATA_DIR.
 */
const reply = v.object({
  data: v.array(v.looseObject({ requests: v.number(), cost: v.number(), total_tokens: v.number(), object: v.string() })),
});
const dayMs = 86_400_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { by: { type: 'string', default: 'api_key,model' }, from: { type: 'string' }, to: { type: 'string' } },
  });
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  const query = new URLSearchParams({
    time_of_generation_min: values.from ?? new Date(todayMs - dayMs).toISOString(),
    time_of_generation_max: values.to ?? new Date(todayMs).toISOString(),
    order_by: 'cost',
  });
  const base = process.env.SVC_URL ?? 'http://127.0.0.1:8787';
  const key = process.env.SVC_ADMIN_KEY ?? (await firstAdminKey());
  const url = `${base}/v1/analytics/groups/${encodeURIComponent(values.by)}?${query}`;
  const response = await fetch(url, { headers: { 'x-svc-api-key': key } });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(body)}`);
  const { data } = v.parse(reply, body);
  if (data.length === 0) process.stdout.write('no requests\n');
  else
    console.table(
      data.map(({ object: _, cost, ...columns }) => ({ ...columns, 'cost in USD': Number((cost / 100).toPrecision(12)) })),
    );
}

async function firstAdminKey(): Promise<string> {
  const path = join(process.env.DATA_DIR ?? '.data', 'first-keys.json');
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`SVC_ADMIN_KEY: not set, and ${path} cannot be read. Set it to an admin key with the scope analytics.view`);
  });
  return v.parse(v.object({ admin_key: v.string() }), JSON.parse(text)).admin_key;
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
