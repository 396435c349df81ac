import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../admin/support/test-database.ts';
import { type FreshReply, onFreshConnection } from '../support/clients/fresh-connection.ts';
import { newGate } from '../support/gate.ts';
import { connectionsTo, listenersOn } from '../support/processes/connections-to.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { variants } from '../support/samples/cache-variants.ts';
import { configOf, expectationOf, type Row, rows, textOf, words } from '../support/samples/guardrail-matrix.ts';
import { preparedRows } from '../support/samples/stored-guardrails.ts';
import { until } from '../support/until.ts';
import { reply } from '../support/upstream/fake-upstream.ts';

const crashFile = new URL('../support/product/crash-embedded-database.ts', import.meta.url).href;
const chatPath = '/v1/chat/completions';

/** Every `step`th row of a table, of which each database takes its share in pairs. With LONG_TESTS each takes the whole table. */
const isPart = (at: number, step: number, database: number): boolean => {
  if (process.env.LONG_TESTS) return true;
  return at % step === 0 && Math.floor(at / step / 2) % databases.length === database;
};

describe.each(databases)('three gateway processes, on %s', (name) => {
  let gateway: GatewayWithUpstream;
  beforeAll(async () => {
    gateway = await startGatewayWithUpstream({
      database: name === 'PGlite' ? 'embedded' : 'server',
      env: {
        GATEWAY_PROCESSES: '3',
        CACHE_STORE_TIMEOUT: '2000',
        ...(name === 'PGlite' ? { NODE_OPTIONS: `${cheapStartEnv.NODE_OPTIONS ?? ''} --import=${crashFile}` } : {}),
      },
    });
    await allProcesses();
  });
  afterEach(() => gateway?.upstream.reset());
  afterAll(() => gateway?.close());

  const allProcesses = () => until(() => gateway.pidsOf('gateway').length === 3, { what: 'three gateway processes' });
  const config = JSON.stringify({ provider: '@oai', cache: { mode: 'simple' } });
  const bodyOf = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] });
  const ask = (content: string, headers: Record<string, string> = {}): Promise<FreshReply> =>
    onFreshConnection(gateway.origin + chatPath, {
      headers: { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': config, ...headers },
      body: bodyOf(content),
    });
  const calls = () => gateway.upstream.requests.filter(({ path }) => path === chatPath).length;
  const statuses = (replies: readonly FreshReply[]) => replies.map(({ headers }) => headers['x-svc-cache-status']);
  const replyOf = (content: string) => ({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

  it('serves a reply that another process has stored', async () => {
    await ask('shared');
    // Each request has its own connection, so all processes reply to some of them.
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask('shared')));
    expect(new Set(statuses(replies))).toEqual(new Set(['HIT']));
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    expect(calls()).toBe(1);
  });

  it('calls the provider once for 1,000 equal requests at the same time', async () => {
    const gate = newGate();
    gateway.upstream.on(chatPath, async (exchange) => {
      await gate.opened;
      exchange.response.setHeader('content-type', 'application/json');
      exchange.response.end(JSON.stringify(replyOf('once')));
    });
    const asked = Array.from({ length: 1_000 }, () => ask('at once'));
    await until(() => calls() >= 1, { what: 'the call of the leader' });
    gate.open();
    const replies = await Promise.all(asked);
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(calls()).toBe(1);
    expect(statuses(replies).filter((status) => status === 'MISS')).toHaveLength(1);
  });

  it('lets another process call the provider if the one that leads is killed', async () => {
    const gate = newGate();
    gateway.upstream.once(chatPath, async () => {
      await gate.opened;
    });
    gateway.upstream.cutConnections();
    const first = ask('killed').catch(() => null);
    await until(() => calls() === 1, { what: 'the call of the leader' });
    const others = Array.from({ length: 10 }, () => ask('killed').catch(() => null));
    const leader = leaderPid();
    process.kill(leader, 'SIGKILL');
    expect(await first).toBeNull();
    const replies = (await Promise.all(others)).filter((one) => one !== null);
    gate.open();
    await allProcesses();
    for (const one of replies) expect(one.status).toBe(200);
    expect((await ask('killed')).headers['x-svc-cache-status']).toBe('HIT');
    expect(calls()).toBe(2);
  });

  it('replaces the entry of all processes on a forced refresh', async () => {
    gateway.upstream.once(chatPath, reply(200, replyOf('old') as never));
    await ask('refreshed');
    await Promise.all(Array.from({ length: 20 }, () => ask('refreshed')));
    gateway.upstream.once(chatPath, reply(200, replyOf('new') as never));
    const refreshed = await ask('refreshed', { 'x-svc-cache-force-refresh': 'true' });
    expect(refreshed.headers['x-svc-cache-status']).toBe('REFRESH');
    await until(
      async () => {
        const replies = await Promise.all(Array.from({ length: 20 }, () => ask('refreshed')));
        return replies.every(({ body }) => body.includes('new'));
      },
      { what: 'the new reply in all processes' },
    );
    expect(calls()).toBe(2);
  });

  const isHit = ({ headers }: FreshReply) => headers['x-svc-cache-status'] === 'HIT';

  it('is purged in all processes by an admin', async () => {
    gateway.upstream.once(chatPath, reply(200, replyOf('before') as never));
    await ask('purged');
    await Promise.all(Array.from({ length: 20 }, () => ask('purged')));
    const path = `/admin/workspaces/${gateway.workspaceId}/cache`;
    const stored = await until(async () => {
      const read = await gateway.admin.get(path);
      return read.body.entries > 0 && read;
    });
    expect(stored.body).toMatchObject({ object: 'cache', workspace_id: gateway.workspaceId });
    expect(stored.body.bytes).toBeGreaterThan(0);
    gateway.upstream.on(chatPath, reply(200, replyOf('after') as never));
    expect((await gateway.admin.delete(path)).status).toBe(200);
    expect((await gateway.admin.get(path)).body).toMatchObject({ entries: 0, bytes: 0, oldest_at: null, newest_at: null });
    await until(
      async () => {
        const replies = await Promise.all(Array.from({ length: 20 }, () => ask('purged')));
        return replies.every((one) => isHit(one) && one.body.includes('after'));
      },
      { what: 'the purge in all gateways' },
    );
    // A process that has neither the new document nor the entry in memory may call the provider once too.
    const called = calls();
    expect(called).toBeGreaterThanOrEqual(2);
    expect(called).toBeLessThanOrEqual(1 + 3);
    expect(isHit(await ask('purged'))).toBe(true);
    expect(calls()).toBe(called);
  });

  it.each([
    ['entry', (id: string) => `/entries/${id}`],
    ['namespace', () => '?namespace=of-namespace'],
  ])('loses one %s in all processes when an admin purges it, and keeps the rest', async (what, below) => {
    const namespace = { 'x-svc-cache-namespace': `of-${what}` };
    const path = `/admin/workspaces/${gateway.workspaceId}/cache`;
    const both = async (content: string, headers: Record<string, string>) => {
      await until(async () => isHit(await ask(content, headers)));
      await Promise.all(Array.from({ length: 20 }, () => ask(content, headers)));
    };
    await both(`goes with ${what}`, namespace);
    await both(`stays with ${what}`, {});
    const { data } = (await gateway.admin.get(`${path}/entries?namespace=of-${what}`)).body;
    expect(data).toEqual([
      expect.objectContaining({ namespace: `of-${what}`, model: 'm', endpoint: 'chatComplete', is_semantic: false }),
    ]);
    const before = calls();
    expect((await gateway.admin.delete(`${path}${below(data[0].id)}`)).status).toBe(200);
    expect((await gateway.admin.get(`${path}/entries?namespace=of-${what}`)).body.total).toBe(0);
    // The first gateway that has the new document calls the provider again, and no gateway replies from memory after that. Each of the others
    // may call it once before it has the document: the entry is gone from the store.
    await until(async () => {
      const called = calls();
      await Promise.all(Array.from({ length: 20 }, () => ask(`goes with ${what}`, namespace)));
      return called > before && calls() === called;
    });
    const called = calls();
    expect(called).toBeLessThanOrEqual(before + 3);
    expect(isHit(await ask(`stays with ${what}`))).toBe(true);
    expect(calls()).toBe(called);
  });

  // These restart or stop processes, which takes long, and use nothing that differs between the databases.
  if (process.env.LONG_TESTS || name === databases.at(-1)) {
    it('survives a restart of the gateway processes', async () => {
      await ask('kept');
      // A process that does not know of the purge of the test above yet calls the provider itself.
      await until(async () => (await ask('kept')).headers['x-svc-cache-status'] === 'HIT');
      const called = calls();
      const before = gateway.pidsOf('gateway');
      for (const pid of before) process.kill(pid, 'SIGKILL');
      await until(() => gateway.pidsOf('gateway').filter((pid) => !before.includes(pid)).length === 3, { what: 'new processes' });
      const reply = await until(() => ask('kept').catch(() => null));
      expect(reply.headers['x-svc-cache-status']).toBe('HIT');
      expect(calls()).toBe(called);
    });

    it('keeps serving while the control plane hangs', async () => {
      const [controlPlane] = gateway.pidsOf('control-plane');
      // A process that was started meanwhile must load the key.
      await Promise.all(Array.from({ length: 20 }, () => ask('known')));
      process.kill(controlPlane as number, 'SIGSTOP');
      try {
        const first = await ask('away');
        expect([first.status, first.headers['x-svc-cache-status']]).toEqual([200, 'MISS']);
      } finally {
        process.kill(controlPlane as number, 'SIGCONT');
      }
    });
  }

  it.runIf(name === 'PGlite')('serves calls after a crash of the embedded database, which is started again', async () => {
    const [crashing] = gateway.pidsOf('control-plane');
    // Every process must load the key and the provider, which a hit does not need. A process has an id before it listens.
    await until(() => listenersOn(gateway.port) === 3);
    await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`known ${at}`)));
    const known = await ask('before the crash');
    expect(known.status).toBe(200);
    await writeFile(join(gateway.dataDir, 'crash'), '');
    await until(() => gateway.output().includes('the embedded database has crashed; the process ends'));
    expect(gateway.output()).toContain('"reason":"crash on purpose"');
    const replies = await Promise.all(Array.from({ length: 10 }, (_, at) => ask(`after the crash ${at}`)));
    expect(replies.map(({ status }) => status)).toEqual(Array.from(replies, () => 200));
    await until(() =>
      gateway.admin
        .get('/configs')
        .then(({ status }) => status === 200)
        .catch(() => false),
    );
    expect(gateway.pidsOf('control-plane')).not.toContain(crashing);
    expect(await gateway.logOf(String(known.headers['x-svc-trace-id']))).toMatchObject({ outcome: 'success' });
  });

  it('serves none of many requests that differ in one aspect from the entry of another', async () => {
    // Some of all: the aspects of bodies, headers and configs that one provider serves.
    const sent = variants.filter(
      ({ request: { path, headers } }, at) =>
        isPart(at, 7, databases.indexOf(name)) &&
        path === undefined &&
        headers?.['x-svc-config']?.includes('"@one"') &&
        headers.authorization === undefined,
    );
    expect(sent.length).toBeGreaterThan(50);
    const shared: string[] = [];
    for (const { aspect, request } of sent) {
      const inline = String(request.headers?.['x-svc-config']).replaceAll('"@one"', '"@oai"');
      const headers = { ...(request.headers as Record<string, string>), 'x-svc-config': inline };
      const first = await onFreshConnection(gateway.origin + chatPath, {
        headers: { 'x-svc-api-key': gateway.workspaceKey, ...headers },
        body: request.body as object,
      });
      if (first.headers['x-svc-cache-status'] !== 'MISS') shared.push(aspect);
    }
    expect(shared).toEqual([]);
    expect(calls()).toBe(sent.length);
  });

  it('have the same verdicts of guardrails in every combination', async () => {
    const ofOneRoute = rows.filter((row) => row.route.path === chatPath && row.route.provider === '@one');
    const isInline = ({ source }: Row) => source === 'shorthand' || source === 'hook form' || source === 'target';
    const part = (all: readonly Row[], step: number) => all.filter((_, at) => isPart(at, step, databases.indexOf(name)));
    const inline = part(ofOneRoute.filter(isInline), 11);
    // A guardrail that no process found would change nothing in most rows, so more of the others are checked.
    const leavesTrace = (one: Row): boolean => {
      const { status, calls: called, leaves } = expectationOf(one);
      return status !== 200 || called !== 1 || !leaves;
    };
    const ofSaved = ofOneRoute.filter((one) => !isInline(one));
    const stored = [
      ...part(ofSaved.filter(leavesTrace), 11),
      ...part(
        ofSaved.filter((one) => !leavesTrace(one)),
        61,
      ),
    ];
    let row = inline[0] as Row;
    gateway.upstream.on(chatPath, async ({ request, response }) => {
      const isStream = request.text.includes('"stream":true');
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
      if (!isStream) return void response.end(JSON.stringify(row.route.plain(words.join(''))));
      const send = (data: Uint8Array) => response.write(data);
      const handler = { onHead: () => {}, onData: send, onEnd: () => response.end(), onError: () => response.destroy() };
      row.route.stream(words)({} as never, handler as never);
    });
    const check = async (apiKey: string, rowConfig: string) => {
      const before = calls();
      const reply = await onFreshConnection(gateway.origin + chatPath, {
        headers: { 'x-svc-api-key': apiKey, 'x-svc-config': rowConfig },
        body: { model: 'm', ...row.route.body, ...(row.stream === 'plain' ? {} : { stream: true }) },
      });
      const { route: _route, ...columns } = row;
      const { status, calls: called, leaves } = expectationOf(row);
      const text = textOf(reply.body).includes('forbidden') || reply.body.includes('forbidden"');
      const seen = { status: reply.status, calls: calls() - before, leaves: text };
      expect({ ...columns, ...seen }).toEqual({ ...columns, status, calls: called, leaves });
    };
    for (row of inline) await check(gateway.workspaceKey, JSON.stringify(configOf(row)).replaceAll('"@one"', '"@oai"'));
    let checked = 0;
    for await (const prepared of preparedRows(gateway, stored)) {
      row = prepared.row;
      await check(prepared.apiKey, prepared.config);
      checked++;
    }
    expect(checked).toBe(stored.length);
  });

  /** Returns the process that calls the provider now. */
  function leaderPid(): number {
    const port = Number(new URL(gateway.upstream.origin).port);
    const [leader, ...more] = gateway.pidsOf('gateway').filter((pid) => connectionsTo(pid, port) > 0);
    if (leader === undefined || more.length > 0) throw new Error('one process with a connection to the provider was expected');
    return leader;
  }
});
