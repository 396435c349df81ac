import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { dayMs } from '../contract/values/time/durations.ts';
import { utcMs } from '../contract/values/time/utc-time.ts';
import { fetchService, serviceAccess } from './service-access.ts';

const usage = `usage: npm run -s spend [-- --by api_key,model --from 2026-11-22 --to 2026-11-23]

Prints requests, tokens and cost by API key and model: of yesterday (UTC), or from --from to --to. Without --to until now.
SVC_URL: address of the service, by default PORT on this machine, else the address in first-keys.json of DATA_DIR
SVC_ADMIN_KEY: an admin key with the scope analytics.view, by default the first one in DATA_DIR
`;

const reply = v.object({
  data: v.array(v.looseObject({ requests: v.number(), cost: v.number(), total_tokens: v.number(), object: v.string() })),
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      by: { type: 'string', default: 'api_key,model' },
      from: { type: 'string' },
      to: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  const from = values.from === undefined ? new Date(todayMs - dayMs) : timeOf('from', values.from);
  const until = values.from === undefined ? new Date(todayMs) : new Date();
  const to = values.to === undefined ? until : timeOf('to', values.to);
  const query = new URLSearchParams({
    time_of_generation_min: from.toISOString(),
    time_of_generation_max: to.toISOString(),
    order_by: 'cost',
  });
  const { url: base, key } = await serviceAccess('an admin key with the scope analytics.view');
  const url = `${base}/v1/analytics/groups/${encodeURIComponent(values.by)}?${query}`;
  const response = await fetchService(url, { headers: { 'x-svc-api-key': key } });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(body)}`);
  const { data } = v.parse(reply, body);
  if (data.length === 0)
    process.stdout.write(
      `no requests from ${from.toISOString()} to ${to.toISOString()}; for today: npm run -s spend -- --from ${new Date(todayMs).toISOString().slice(0, 10)}\n`,
    );
  else
    console.table(
      data.map(({ object: _, cost, ...columns }) => ({ ...columns, 'cost in USD': Number((cost / 100).toPrecision(12)) })),
    );
}

/** Reads a day or a time, in UTC if it has no zone. */
function timeOf(option: string, text: string): Date {
  const time = new Date(utcMs(text));
  if (Number.isNaN(time.getTime())) throw new Error(`--${option}: got ${text}, expected a day or time such as 2026-11-23`);
  return time;
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
