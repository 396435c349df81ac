import { randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openRawClient, type RawClient, sha256 } from '../support/clients/raw-client.ts';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../support/samples/pattern-bytes.ts';
import { type BehaviourLike, cutAfterBytes, echo, rawBytes, reply, stallThenCut } from '../support/upstream/fake-upstream.ts';

/** Requests outside the gateway's routes go to the provider unchanged, and their replies come back unchanged. */
let gateway: SharedGatewayWithUpstream;
let client: RawClient;

beforeAll(async () => {
  // Some tests look at what follows on the same connection.
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => {
  gateway?.upstream.reset();
  client?.destroy();
});

/** Replies with the body, once it is whole. */
const mirror: BehaviourLike = ({ request, response }) => {
  const type = request.header('content-type') ?? 'application/octet-stream';
  response.writeHead(200, { 'content-type': type, 'content-length': request.bodyBytes });
  response.end(request.body);
};

interface Sent {
  readonly status: number;
  readonly message: IncomingMessage;
  readonly body: Buffer;
}

/** One request by Node's plain client, which changes nothing on the way: it neither decompresses nor follows. */
function send(method: string, target: string, body?: Uint8Array | null, headers: Record<string, string> = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const common = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': '@oai', ...headers };
    const length = body && !headers['transfer-encoding'] ? { 'content-length': String(body.length) } : {};
    const outgoing = httpRequest(`${gateway.origin}/`, { method, path: target, headers: { ...common, ...length } });
    outgoing.on('error', reject);
    outgoing.on('response', (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => resolve({ status: message.statusCode ?? 0, message, body: Buffer.concat(chunks) }));
      message.on('error', reject);
    });
    outgoing.end(body ?? undefined);
  });
}

/** Request head for the raw client. */
const head = (method: string, target: string, lines: readonly string[] = []) =>
  `${[
    `${method} ${target} HTTP/1.1`,
    'host: gateway',
    `x-svc-api-key: ${gateway.workspaceKey}`,
    'x-svc-provider: @oai',
    ...lines,
  ].join('\r\n')}\r\n\r\n`;

const boundary = '----a boundary of our own';
const part = (name: string, more: string, bytes: Uint8Array) =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
const multipart = Buffer.concat([
  part('purpose', '', Buffer.from('batch')),
  part('file', '; filename="ä \\"b\\".bin"\r\nContent-Type: application/octet-stream', randomBytes(70_001)),
  Buffer.from(`--${boundary}--\r\n`),
]);

describe('methods and bodies', () => {
  const oddJson = Buffer.from('{ "a" : 1.0e0,\r\n\t"a":2,  "\\u0062":"\\/" , "big":12345678901234567890 }\n\n');
  const bodies: [name: string, type: string, body: Buffer][] = [
    ['JSON with odd spacing, repeated keys and large numbers', 'application/json', oddJson],
    ['a body of the type JSON that is not JSON', 'application/json', Buffer.from('{"broken":')],
    ['multipart', `multipart/form-data; boundary="${boundary}"`, multipart],
    ['audio', 'audio/wav', randomBytes(300_000)],
    ['one byte', 'application/octet-stream', Buffer.from([0])],
    ['5 MB', 'application/octet-stream', patternBytes(5_000_000)],
  ];

  it.each(bodies)('pass %s in both directions without changing a bit', async (_, type, body) => {
    gateway.upstream.once('/v1/anything', mirror);
    const reply = await send('POST', '/v1/anything', body, { 'content-type': type });
    const sent = gateway.upstream.last;
    expect([reply.status, reply.message.headers['content-type']]).toEqual([200, type]);
    expect([sent.sha256, sent.header('content-type'), sent.header('content-length')]).toEqual([
      sha256(body),
      type,
      String(body.length),
    ]);
    expect(sha256(reply.body)).toBe(sha256(body));
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('pass %s with a body and without', async (method) => {
    for (const body of [Buffer.from('some bytes'), null]) {
      gateway.upstream.once('/v1/anything', mirror);
      const reply = await send(method, '/v1/anything', body);
      expect([reply.status, reply.body.toString()]).toEqual([200, body?.toString() ?? '']);
      expect([gateway.upstream.last.method, gateway.upstream.last.text]).toEqual([method, body?.toString() ?? '']);
    }
  });

  it('pass a chunked upload, and a reply that begins before the upload is over', async () => {
    const body = patternBytes(3_000_000);
    gateway.upstream.once('/v1/anything', echo());
    const reply = await send('POST', '/v1/anything', body);
    expect(sha256(reply.body)).toBe(sha256(body));

    gateway.upstream.once('/v1/anything', mirror);
    client = await openRawClient(gateway.port);
    client.send(head('POST', '/v1/anything', ['transfer-encoding: chunked']));
    for (let at = 0; at < body.length; at += 1_000_000) {
      client.send(`${(1_000_000).toString(16)}\r\n`);
      client.send(body.subarray(at, at + 1_000_000));
      client.send('\r\n');
    }
    client.send('0\r\n\r\n');
    const chunked = await client.reply();
    expect([chunked.status, sha256(chunked.body)]).toEqual([200, sha256(body)]);
    expect(gateway.upstream.last.sha256).toBe(sha256(body));
  });

  it('pass a compressed reply unchanged', async () => {
    const packed = gzipSync(Buffer.from('{"text":"packed by the provider"}'.repeat(500)));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', etag: '"abc"' };
    gateway.upstream.once('/v1/anything', reply(200, packed, headers));
    const response = await send('GET', '/v1/anything', null, { 'accept-encoding': 'gzip' });
    expect(gateway.upstream.last.header('accept-encoding')).toBe('gzip');
    expect(response.message.headers).toMatchObject(headers);
    expect(sha256(response.body)).toBe(sha256(packed));
  });

  it('pass a built-in route below /v1/proxy', async () => {
    const body = Buffer.from('{ "model":"m",  "messages":[] }');
    gateway.upstream.once('/v1/chat/completions', mirror);
    const reply = await send('POST', '/v1/proxy/chat/completions', body, { 'content-type': 'application/json' });
    expect(reply.body.toString()).toBe(body.toString());
    expect(gateway.upstream.last.path).toBe('/v1/chat/completions');
  });

  it('exclude HEAD, which is 405 without a body, and the connection serves the next request', async () => {
    client = await openRawClient(gateway.port);
    client.send(head('HEAD', '/v1/anything'));
    expect((await client.reply({ toHead: true })).status).toBe(405);
    gateway.upstream.once('/v1/anything', mirror);
    client.send(head('GET', '/v1/anything'));
    expect((await client.reply()).status).toBe(200);
  });
});

describe('routing by parameters', () => {
  const byPurpose = (query: object) => ({
    'x-svc-provider': '',
    'x-svc-config': JSON.stringify({
      strategy: { mode: 'conditional', conditions: [{ query, then: 'yes' }], default: 'no' },
      targets: [
        { name: 'yes', provider: '@oai' },
        { name: 'no', provider: '@oai' },
      ],
    }),
  });
  const json = (more: string) => Buffer.from(`{ "purpose" :"batch", "deep":{"a":[1.0e0]},"more":"${more}"}\n`);
  const form = `multipart/form-data; boundary="${boundary}"`;
  const largeForm = Buffer.concat([
    multipart.subarray(0, -4),
    Buffer.from('\r\n'),
    part('x', '; filename="x"', patternBytes(40_000_000)),
  ]);

  it.each([
    ['JSON', 'application/json', json(''), 'yes'],
    ['JSON of a megabyte', 'application/vnd.own+json; charset=utf-8', json('x'.repeat(1_000_000)), 'yes'],
    ['JSON with another value', 'application/json', Buffer.from('{"purpose":"assistants"}'), 'no'],
    ['invalid JSON', 'application/json', Buffer.from('{"purpose":"batch"'), 'no'],
    ['a JSON array', 'application/json', Buffer.from('["purpose"]'), 'no'],
    ['JSON above the limit for parsing', 'application/json', json('x'.repeat(34_000_000)), 'no'],
    ['a form', form, multipart, 'yes'],
    ['a form above the limit for buffering', form, largeForm, 'yes'],
    ['a body of the type form that is not a form', 'multipart/form-data', Buffer.from('purpose=batch'), 'no'],
    ['another type', 'text/plain', Buffer.from('{"purpose":"batch"}'), 'no'],
  ])('with %s forwards the body unchanged, of known length or chunked', async (_, type, body, then) => {
    const asks = byPurpose({ 'params.purpose': 'batch' });
    const framings: Record<string, string>[] = [{}, { 'transfer-encoding': 'chunked' }];
    for (const framing of framings) {
      const reply = await send('POST', '/v1/anything', body, { 'content-type': type, ...asks, ...framing });
      const index = then === 'yes' ? 0 : 1;
      expect(reply.message.headers['x-svc-last-used-option-index']).toBe(`config.targets[${index}]`);
      expect([gateway.upstream.last.sha256, gateway.upstream.last.header('content-type')]).toEqual([sha256(body), type]);
    }
  });

  it('has no parameters without a body', async () => {
    const reply = await send('GET', '/v1/anything', null, byPurpose({ 'params.purpose': { $ne: 'batch' } }));
    expect(reply.message.headers['x-svc-last-used-option-index']).toBe('config.targets[0]');
  });
});

describe('the request target', () => {
  it.each([
    ['/v1//double//slashes/', '/v1//double//slashes/'],
    ['/v1/files%2Fencoded%2fslashes', '/v1/files%2Fencoded%2fslashes'],
    ['/v1/a/..b/c../...', '/v1/a/..b/c../...'],
    ['/v1/a;v=1,2/(b)*', '/v1/a;v=1,2/(b)*'],
    ['/v1/%zz%', '/v1/%zz%'],
    ['/v1/q?x=a+b%20c&&=&x=%2F?y;z', '/v1/q?x=a+b%20c&&=&x=%2F?y;z'],
    ['/v1/proxy/files?limit=2', '/v1/files?limit=2'],
    ['/v1/v1/files', '/v1/files'],
  ])('%s reaches the provider as %s', async (target, expected) => {
    gateway.upstream.always(mirror);
    client = await openRawClient(gateway.port);
    client.send(head('GET', target));
    expect((await client.reply()).status).toBe(200);
    expect(gateway.upstream.last.url).toBe(expected);
  });
});

describe('pass-through headers', () => {
  it('lose hop-by-hop headers and those of the gateway, and keep the others', async () => {
    gateway.upstream.once('/v1/anything', mirror);
    client = await openRawClient(gateway.port);
    const lines = [
      'connection: keep-alive, x-only-here',
      'x-only-here: 1',
      'keep-alive: timeout=5',
      'te: trailers',
      'proxy-authorization: Basic abc',
      'proxy-connection: keep-alive',
      'x-svc-trace-id: t-1',
      'x-svc-metadata: {"a":"b"}',
      'x-custom: kept',
      'user-agent: theirs/1.0',
      'openai-beta: assistants=v2',
    ];
    client.send(head('GET', '/v1/anything', lines));
    expect((await client.reply()).headers['x-svc-trace-id']).toBe('t-1');
    const sent = gateway.upstream.last;
    const names = ['authorization', 'cdn-loop', 'connection', 'host', 'openai-beta', 'user-agent', 'x-custom'];
    expect(sent.headerNames().sort()).toEqual(names);
    expect(sent.header('connection')).toBe('keep-alive');
    expect(sent.header('host')).toBe(`127.0.0.1:${gateway.upstream.port}`);
  });

  it.each([
    ['x-svc-api-key', (key: string) => key],
    ['authorization', (key: string) => `Bearer ${key}`],
    ['x-api-key', (key: string) => key],
  ])('never contain the key of the gateway if it came in %s, only the stored credential', async (name, toValue) => {
    gateway.upstream.on('/v1/anything', mirror);
    const headers = { 'x-svc-provider': '@oai', [name]: toValue(gateway.workspaceKey) };
    const reply = await fetch(`${gateway.baseUrl}/anything`, { headers });
    expect(reply.status).toBe(200);
    const sent = gateway.upstream.last;
    expect(sent.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    expect(sent.rawHeaders.join('\n')).not.toContain(gateway.workspaceKey);
  });

  it("contain the caller's own provider key if no credential is stored", async () => {
    gateway.upstream.once('/anything', mirror);
    const headers = { 'x-svc-provider': 'openai', 'x-svc-custom-host': gateway.upstream.origin, authorization: 'Bearer sk-own' };
    expect((await send('GET', '/v1/anything', null, headers)).status).toBe(200);
    expect(gateway.upstream.last.header('authorization')).toBe('Bearer sk-own');
  });

  it('lose hop-by-hop headers, cookies and CORS headers in the reply, and keep the others, also repeated ones', async () => {
    const text =
      'HTTP/1.1 200 OK\r\nconnection: close, x-only-here\r\nx-only-here: 1\r\nkeep-alive: timeout=5\r\nproxy-authenticate: Basic\r\n' +
      'x-svc-provider: forged\r\nset-cookie: svc_session=a; Path=/\r\naccess-control-allow-origin: *\r\nx-twice: 1\r\nx-twice: 2\r\n' +
      'x-name: caf\xe9\r\nx-ratelimit-remaining-requests: 9\r\ncontent-length: 2\r\n\r\nok';
    gateway.upstream.once('/v1/anything', rawBytes(text));
    const { message } = await send('GET', '/v1/anything');
    const { headers } = message;
    for (const name of ['x-only-here', 'proxy-authenticate']) expect(headers[name]).toBeUndefined();
    for (const name of ['set-cookie', 'access-control-allow-origin']) expect(headers[name]).toBeUndefined();
    expect([headers['x-twice'], headers['x-name']]).toEqual(['1, 2', 'caf\xe9']);
    expect([headers['x-ratelimit-remaining-requests'], headers['x-svc-provider']]).toEqual(['9', 'openai']);
  });
});

describe('pass-through replies', () => {
  it.each([201, 400, 404, 418, 429, 500, 503])('pass a %i with its own bytes', async (status) => {
    gateway.upstream.once(
      '/v1/anything',
      reply(status, `{ "own":"bytes of ${status}" }`, { 'content-type': 'application/problem+json' }),
    );
    const response = await send('GET', '/v1/anything');
    expect([response.status, response.body.toString()]).toEqual([status, `{ "own":"bytes of ${status}" }`]);
    expect(response.message.headers['content-type']).toBe('application/problem+json');
  });

  it.each([
    ['204 No Content', ''],
    ['304 Not Modified', 'etag: "x"\r\n'],
    ['302 Found', 'location: https://elsewhere.example/a\r\ncontent-length: 0\r\n'],
  ])('pass %s without a body and without following redirects', async (line, headers) => {
    gateway.upstream.once('/v1/anything', rawBytes(`HTTP/1.1 ${line}\r\n${headers}\r\n`));
    client = await openRawClient(gateway.port);
    client.send(head('GET', '/v1/anything'));
    const reply = await client.reply();
    expect([reply.status, reply.body.length]).toEqual([Number.parseInt(line, 10), 0]);
    for (const [name, value] of headers.split('\r\n').map((text) => text.split(': '))) {
      const shown = name === 'location' ? 'x-svc-upstream-location' : (name as string);
      if (value !== undefined) expect(reply.headers[shown]).toBe(value);
    }
    expect(reply.headers).not.toHaveProperty('location');
    expect(gateway.upstream.requests).toHaveLength(1);
    gateway.upstream.once('/v1/anything', mirror);
    client.send(head('GET', '/v1/anything'));
    expect((await client.reply()).status).toBe(200);
  });

  it.each(['reset', 'fin'] as const)('stay shorter than their length if the provider cuts them by %s', async (how) => {
    gateway.upstream.once('/v1/anything', cutAfterBytes('x'.repeat(1000), 300, how));
    client = await openRawClient(gateway.port);
    client.send(head('GET', '/v1/anything'));
    const bytes = (await client.closed()).toString('latin1');
    expect(bytes).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(bytes.toLowerCase()).toContain('content-length: 1000');
    expect(bytes.split('\r\n\r\n')[1]?.length).toBeLessThan(1000);
  });

  it('in chunks lack the last chunk if the provider cuts them', async () => {
    const held = stallThenCut(['data: one\n\n', 'data: two\n\n']);
    gateway.upstream.once('/v1/anything', held);
    client = await openRawClient(gateway.port);
    client.send(head('GET', '/v1/anything'));
    await held.reached;
    held.release();
    const bytes = (await client.closed()).toString('latin1');
    expect(bytes).toContain('data: two');
    expect(bytes.endsWith('0\r\n\r\n')).toBe(false);
  });
});
