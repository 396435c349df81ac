import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Verification } from '../../admin/resources/ledger-entries/verify-ledger.ts';
import { newProductDatabase } from '../../test/support/product/product-database.ts';
import { type RunningGateway, startGateway } from '../../test/support/product/start-gateway.ts';
import { until } from '../../test/support/until.ts';
import { isListening } from '../load/connections-of.ts';
import { outcomesByTraceId, untilShipped, verifyStoredLedger } from '../stored-records.ts';

export interface KillOptions {
  readonly kills: number;
  /** Number of calls that each limit admits. */
  readonly limit: number;
  readonly processes: number;
  /** Clients per key. */
  readonly clients: number;
  /** Mean time between kills. */
  readonly everyMs: number;
  /** Also kills the control plane once, halfway and together with a gateway. */
  readonly killsControlPlane: boolean;
  /** `deny` or `allow`: the policy of the rate limits if the ledger does not reply. */
  readonly onUnavailable: string;
}

/** The limits of the keys. The last key has none. */
export const limitKinds = ['requests/day', 'tokens/day', 'token budget', 'none'] as const;
type LimitKind = (typeof limitKinds)[number];

export interface KillResult {
  readonly kinds: readonly {
    readonly kind: LimitKind;
    /** Number of calls that reached the provider. */
    readonly calls: number;
    /** Number of calls whose client got a reply. */
    readonly replied: number;
    /** Records by outcome, of requests that were not rejected. */
    readonly records: Readonly<Record<string, number>>;
    /** Calls that reached the provider and have no record, or several, and records of calls that did not reach it. */
    readonly missing: number;
    readonly double: number;
    readonly unsent: number;
  }[];
  /** Budgets and roll-ups, compared with the sums over records. */
  readonly ledger: Verification;
  readonly kills: number;
  readonly seconds: number;
  /** Unexpected replies. */
  readonly failures: readonly string[];
}

/** Share of a limit that is admitted at least, however many processes are killed. */
export const admittedShareMin = 0.97;

/** Tokens of each call: by its estimate, and by the provider's usage. */
const tokensPerCall = 20;
/** A model with a public price, so that calls have a cost. */
const model = 'gpt-4o-mini';
const upstreamMs = 60;
/** Pause of a client between two calls: after a reply, and while its limit is used up. */
const waitMs = 120;
const refusedWaitMs = 600;
/** A limit is used up if it has rejected all calls for this long: with nearly all units admitted, or while units may still return. */
const settledMs = { admitted: 2_500, other: 60_000 } as const;

/** Clients call through gateway processes that are killed with SIGKILL at random. What the provider received is compared with the limits and the records. */
export async function runKills(options: KillOptions): Promise<KillResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-kills-'));
  const upstream = new CountingUpstream();
  const database = await newProductDatabase(dataDir);
  const stored = { databaseUrl: database.env.DATABASE_URL ?? null, dataDir };
  let gateway: RunningGateway | null = null;
  try {
    const port = await upstream.listen();
    const running = await startGateway({
      dataDir,
      env: { ...database.env, GATEWAY_PROCESSES: String(options.processes), LOG_LEVEL: 'error' },
    });
    gateway = running;
    const provider = await running.admin.createUpstream('bench', `http://127.0.0.1:${port}/v1`);
    await until(() => running.pidsOf('gateway').length === options.processes, { what: 'all gateway processes' });
    const clients = await startClients(running, provider, options);
    const startedMs = performance.now();
    const killed = await killAtRandom(running, options);
    await until(() => running.pidsOf('gateway').length === options.processes, {
      what: 'all gateway processes',
      deadlineMs: 60_000,
    });
    // The units of the last killed process are free again when its successor has shipped its records. While that or the control
    // plane starts, which takes long on a busy machine, limits reject calls although units are left.
    const admitted = (kind: number) => [...upstream.calls].filter((id) => id.startsWith(`kills-${kind}-`)).length;
    const isSettled = (client: Client) =>
      client.refusedForMs() > (admitted(client.kind) >= options.limit * admittedShareMin ? settledMs.admitted : settledMs.other);
    await until(() => clients.every((client) => client.isUnlimited() || isSettled(client)), {
      what: 'limits that are used up',
      deadlineMs: 240_000,
    });
    for (const client of clients) await client.stop();
    const seconds = (performance.now() - startedMs) / 1000;
    await untilShipped(dataDir, 300_000);
    await running.stop();
    gateway = null;
    const outcomes = await outcomesByTraceId(stored, 'kills-');
    const ledger = await verifyStoredLedger(stored);
    const kinds = limitKinds.map((kind, at) => resultOf(kind, at, upstream, clients, outcomes));
    return { kinds, ledger, kills: killed, seconds, failures: clients.flatMap((client) => client.failures) };
  } finally {
    await gateway?.kill();
    upstream.close();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function startClients(running: RunningGateway, provider: string, options: KillOptions): Promise<Client[]> {
  const { limit, onUnavailable: on_unavailable } = options;
  const limits = [
    { rate_limits: [{ type: 'requests', unit: 'rpd', value: limit, on_unavailable }] },
    { rate_limits: [{ type: 'tokens', unit: 'rpd', value: limit * tokensPerCall, on_unavailable }] },
    { usage_limits: { type: 'tokens', credit_limit: limit * tokensPerCall } },
    {},
  ];
  const clients: Client[] = [];
  for (const [at, fields] of limits.entries()) {
    const { key } = await running.admin.createKey(fields);
    for (let number = 0; number < options.clients; number++) {
      clients.push(new Client(at, `${at}-${number}`, running.port, { 'x-svc-api-key': key, 'x-svc-provider': provider }));
    }
  }
  for (const client of clients) client.start();
  return clients;
}

async function killAtRandom(running: RunningGateway, options: KillOptions): Promise<number> {
  let killed = 0;
  await pause(options.everyMs);
  while (killed < options.kills) {
    const pids = running.pidsOf('gateway').filter((pid) => isListening(pid, running.port));
    const victim = pids[Math.floor(Math.random() * pids.length)];
    if (victim !== undefined) {
      process.kill(victim, 'SIGKILL');
      killed++;
      if (options.killsControlPlane && killed === Math.ceil(options.kills / 2)) {
        for (const pid of running.pidsOf('control-plane')) process.kill(pid, 'SIGKILL');
      }
    }
    await pause(options.everyMs * (0.5 + Math.random()));
  }
  return killed;
}

function resultOf(
  kind: LimitKind,
  at: number,
  upstream: CountingUpstream,
  clients: readonly Client[],
  outcomes: ReadonlyMap<string, readonly string[]>,
): KillResult['kinds'][number] {
  const mine = (id: string): boolean => id.startsWith(`kills-${at}-`);
  const calls = [...upstream.calls].filter(mine);
  const records: Record<string, number> = {};
  let unsent = 0;
  for (const [id, all] of outcomes) {
    if (!mine(id)) continue;
    for (const outcome of all) if (outcome !== 'refused') records[outcome] = (records[outcome] ?? 0) + 1;
    if (!upstream.calls.has(id) && all.some((outcome) => outcome !== 'refused')) unsent++;
  }
  return {
    kind,
    calls: calls.length,
    replied: clients.filter((client) => client.kind === at).reduce((sum, client) => sum + client.replied, 0),
    records,
    missing: calls.filter((id) => !outcomes.has(id)).length,
    double: calls.filter((id) => (outcomes.get(id)?.length ?? 0) > 1).length,
    unsent,
  };
}

/** Replies to each call after 60 ms and notes its id, which is in `user` of the body. */
class CountingUpstream {
  readonly calls = new Set<string>();
  readonly #server: Server = createServer((message, response) => {
    let text = '';
    message.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    message.on('end', () => {
      this.calls.add((JSON.parse(text) as { user: string }).user);
      setTimeout(() => {
        response.setHeader('content-type', 'application/json');
        response.end(reply);
      }, upstreamMs);
    });
  });

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const reply = JSON.stringify({
  id: 'chatcmpl-kill',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 15, total_tokens: tokensPerCall },
});

/** Makes one call after the other. A rejected or cut call is followed by the next. */
class Client {
  readonly kind: number;
  replied = 0;
  readonly failures: string[] = [];
  readonly #name: string;
  readonly #port: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #calls = 0;
  #running: Promise<void> | null = null;
  #stopped = false;
  #refusedSinceMs: number | null = null;

  constructor(kind: number, name: string, port: number, headers: Readonly<Record<string, string>>) {
    this.kind = kind;
    this.#name = name;
    this.#port = port;
    this.#headers = headers;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    this.#agent.destroy();
  }

  /** Milliseconds for which the limit has rejected every call; 0 if the last one was admitted. */
  refusedForMs(): number {
    return this.#refusedSinceMs === null ? 0 : performance.now() - this.#refusedSinceMs;
  }

  isUnlimited(): boolean {
    return this.kind === limitKinds.length - 1;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const status = await this.#call();
      if (status === 200) this.replied++;
      if (status === 200) this.#refusedSinceMs = null;
      else if (status === 429 || status === 412) this.#refusedSinceMs ??= performance.now();
      // A budget cannot be checked while the control plane is unreachable, and connections are refused while all processes are
      // down.
      else if (status !== 503 && status !== 0) this.failures.push(`a call had status ${status}`);
      await pause(this.#refusedSinceMs === null ? waitMs : refusedWaitMs);
    }
  }

  /** Returns the status. 0 if the connection was refused or cut. */
  #call(): Promise<number> {
    const id = `kills-${this.#name}-${this.#calls++}`;
    const body = JSON.stringify({
      model,
      max_tokens: 15,
      user: id,
      messages: [{ role: 'user', content: 'aaaa' }],
    });
    const headers = {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-svc-trace-id': id,
    };
    return new Promise((resolve) => {
      const sent = request({
        port: this.#port,
        host: '127.0.0.1',
        path: '/v1/chat/completions',
        method: 'POST',
        headers,
        agent: this.#agent,
      });
      sent.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', () => resolve(0));
      });
      sent.on('error', () => resolve(0));
      sent.end(body);
    });
  }
}
