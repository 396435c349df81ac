import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type FakeEgressProxy, startFakeEgressProxy } from '../support/fakes/fake-egress-proxy.ts';
import { type RunningGateway, startGateway } from '../support/product/start-gateway.ts';
import { until } from '../support/until.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../core/upstream/fixtures/${name}`, import.meta.url));
const reply = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'through the proxy' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
};

describe('a gateway behind an egress proxy that a file names', () => {
  const paths: string[] = [];
  const tls = { key: readFileSync(fixture('key.pem')), cert: readFileSync(fixture('certificate.pem')) };
  const upstream = createServer(tls, (request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/v1/chat/completions' ? JSON.stringify(reply) : '{}');
    });
  });
  const sessions = new WebSocketServer({ server: upstream, path: '/v1/realtime' });
  let origin: string;
  let proxy: FakeEgressProxy;
  let gateway: RunningGateway;
  beforeAll(async () => {
    sessions.on('connection', (socket: WebSocket) => socket.send('{"type":"session.created"}'));
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    origin = `https://upstream.example.com:${(upstream.address() as AddressInfo).port}`;
    proxy = await startFakeEgressProxy();
    const proxyFile = join(await mkdtemp(join(tmpdir(), 'egress-proxy-')), 'https-proxy');
    await writeFile(proxyFile, `http://user:pass@127.0.0.1:${proxy.port}\n`);
    gateway = await startGateway({
      env: {
        ...{ HTTPS_PROXY_FILE: proxyFile, NODE_EXTRA_CA_CERTS: fixture('certificate.pem') },
        OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await proxy?.close();
    sessions.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const client = (more: { custom_host?: string } = {}) =>
    new OpenAI({
      ...{ baseURL: gateway.baseUrl, apiKey: 'sk-upstream', maxRetries: 0 },
      defaultHeaders: {
        ...{ 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': 'openai' },
        'x-svc-custom-host': more.custom_host ?? `${origin}/v1`,
      },
    });

  it('reaches a provider whose name only the proxy can resolve', async () => {
    const { choices } = await client().chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(choices[0]?.message.content).toBe('through the proxy');
    expect(proxy.requests.map(({ authority }) => `https://${authority}`)).toContain(origin);
  });

  it('opens realtime sessions through the proxy', async () => {
    const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': 'openai', 'x-svc-custom-host': `${origin}/v1` };
    const url = `${gateway.baseUrl.replace('http', 'ws')}/realtime?model=gpt-realtime`;
    const session = new WebSocket(url, { headers: { ...headers, authorization: 'Bearer sk-upstream' } });
    const [message] = await once(session, 'message');
    expect(JSON.parse(String(message))).toEqual({ type: 'session.created' });
    session.close();
    await once(session, 'close');
  });

  it('exports telemetry through the proxy', async () => {
    await until(() => paths.includes('/v1/traces'), { what: 'an export of traces' });
  });

  it('refuses addresses inside the network, although the proxy could reach them', async () => {
    const before = proxy.requests.length;
    const call = client({ custom_host: 'https://10.0.0.5/v1' });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    await expect(call.chat.completions.create({ model: 'gpt-4o-mini', messages })).rejects.toMatchObject({
      ...{ status: 400, code: 'invalid_custom_host' },
    });
    expect(proxy.requests.slice(before).map(({ authority }) => authority)).not.toContain('10.0.0.5:443');
  });
});
