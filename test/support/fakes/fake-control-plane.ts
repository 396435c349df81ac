import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { DocumentKind } from '../../../core/contract/protocol/documents.ts';
import type { InternalFetch } from '../../../core/contract/protocol/internal-api.ts';
import type { ChangeNotice } from '../../../core/contract/protocol/notices/change-notice.ts';

/** A control plane with documents in memory behind real HTTP. Tests can make it slow, broken or unreachable. */
export interface FakeControlPlane {
  readonly url: string;
  readonly fetch: InternalFetch;
  readonly requests: string[];
  /** Newest revision. Every `put` and `remove` creates the next one. */
  revision: number;
  /** Changes up to this revision are deleted. */
  forgottenUpTo: number;
  /** Maximum number of changes in one reply. */
  changesMax: number;
  /** Stored records by id. A second one of the same id only counts in `duplicates`. */
  readonly records: Map<string, RequestRecord>;
  duplicates: number;
  /** Ids that are rejected one by one, and a text that makes the whole batch be rejected. */
  rejectIds: Set<string>;
  refuseText: string | null;
  /** Replies to every call with this status, or does not reply at all. */
  mode: 'ok' | 'stall' | number;
  put(kind: DocumentKind, id: string, document: object): ChangeNotice;
  remove(kind: DocumentKind, id: string): ChangeNotice;
  /** Fixes the reply to the next call when the call arrives, and sends it only after `until`. */
  holdNext(until: Promise<void>): void;
  /** Resolves when the next call has arrived. */
  arrival(): Promise<string>;
  /** Closes the port and all connections. `restart` opens the same port again. */
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export async function startFakeControlPlane(): Promise<FakeControlPlane> {
  const documents = new Map<string, unknown>();
  const changes: ChangeNotice[] = [];
  const holds: Promise<void>[] = [];
  const arrivals: ((path: string) => void)[] = [];
  let server: Server;
  let port = 0;

  const plane: FakeControlPlane = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    fetch: (method, path, body, timeoutMs) => fetchInternal(plane.url, method, path, body, timeoutMs),
    requests: [],
    revision: 0,
    forgottenUpTo: 0,
    changesMax: 5000,
    records: new Map(),
    duplicates: 0,
    rejectIds: new Set(),
    refuseText: null,
    mode: 'ok',
    put(kind, id, document) {
      documents.set(`${kind}/${id}`, document);
      return change(kind, id, 'upsert');
    },
    remove(kind, id) {
      documents.delete(`${kind}/${id}`);
      return change(kind, id, 'delete');
    },
    holdNext: (until) => void holds.push(until),
    arrival: () => new Promise((resolve) => arrivals.push(resolve)),
    async stop() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
    restart: listen,
  };
  await listen();
  return plane;

  async function listen(): Promise<void> {
    server = createServer((request, response) => void result(request, response));
    await once(server.listen(port, '127.0.0.1'), 'listening');
    port = (server.address() as AddressInfo).port;
  }

  function change(kind: DocumentKind, id: string, op: ChangeNotice['op']): ChangeNotice {
    plane.revision += 1;
    const notice = { revision: plane.revision, kind, id, op };
    changes.push(notice);
    return notice;
  }

  async function result(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    plane.requests.push(path);
    const reply = replyTo(new URL(path, plane.url), Buffer.concat(chunks).toString('utf8'));
    const hold = holds.shift();
    arrivals.shift()?.(path);
    await hold;
    if (reply === null) return;
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
  }

  function replyTo(url: URL, body: string): { status: number; body: unknown } | null {
    if (plane.mode === 'stall') return null;
    if (plane.mode !== 'ok') return { status: plane.mode, body: {} };
    if (url.pathname === '/internal/v1/records') return takeRecords(body);
    if (url.pathname === '/internal/v1/changes')
      return { status: 200, body: changesAfter(Number(url.searchParams.get('after'))) };
    if (url.pathname === '/internal/v1/api-keys') {
      const { ids } = JSON.parse(body) as { ids: string[] };
      if (plane.refuseText !== null && body.includes(plane.refuseText)) return { status: 500, body: {} };
      return {
        status: 200,
        body: { revision: plane.revision, documents: ids.map((id) => documents.get(`api-key/${id}`) ?? null) },
      };
    }
    const [kind, id] = url.pathname.split('/').slice(-2);
    const document = documents.get(`${kind}/${decodeURIComponent(id ?? '')}`) ?? null;
    return { status: 200, body: { revision: plane.revision, document } };
  }

  function changesAfter(after: number) {
    const { revision, forgottenUpTo, changesMax } = plane;
    if (after < forgottenUpTo || after > revision) return { revision, reset: true, changes: [] };
    const later = changes.filter((notice) => notice.revision > after).slice(0, changesMax);
    return { revision, reset: false, changes: later };
  }

  function takeRecords(body: string) {
    if (plane.refuseText !== null && body.includes(plane.refuseText)) return { status: 400, body: {} };
    let inserted = 0;
    let duplicates = 0;
    const rejected: string[] = [];
    for (const record of JSON.parse(body) as RequestRecord[]) {
      if (plane.rejectIds.has(record.id)) rejected.push(record.id);
      else if (plane.records.has(record.id)) duplicates += 1;
      else {
        plane.records.set(record.id, record);
        inserted += 1;
      }
    }
    plane.duplicates += duplicates;
    return { status: 200, body: { inserted, duplicates, rejected } };
  }
}

/** Makes one call of the internal API with Node's own client. */
async function fetchInternal(...[url, method, path, body, timeoutMs]: [string, ...Parameters<InternalFetch>]) {
  const response = await fetch(url + path, {
    method,
    body: body === null ? null : Buffer.from(body),
    signal: AbortSignal.timeout(Math.max(1, timeoutMs)),
  });
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
}
