import { randomUUID } from 'node:crypto';
import { type StoredFile, storedFileChunks, storedFiles } from '../../../admin/resources/files/entity.ts';
import { callerHeaders } from '../../../core/contract/provider/own-store.ts';
import type { Plane } from './plane.ts';

/** The store as a gateway calls it, for one workspace of the control plane. */
export interface OwnStore {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of replies
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  /** Sends the form as it is. Its bytes are a text if they have no name (null). */
  upload(
    bytes: Uint8Array | string,
    fields?: Readonly<Record<string, string>>,
    name?: string | null,
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of replies
  ): Promise<{ status: number; body: any }>;
  content(id: string): Promise<string>;
  /** Returns the rows of the tables. */
  rows(): Promise<StoredFile[]>;
  chunkCount(): Promise<number>;
}

export function ownStoreOf(plane: Plane, keyId: string = randomUUID()): OwnStore {
  const { organisationId, workspaceId, url, settings } = plane;
  const headers = {
    authorization: `Bearer ${settings.clusterKeyText}`,
    [callerHeaders.organisation]: organisationId,
    [callerHeaders.workspace]: workspaceId,
    [callerHeaders.key]: keyId,
  };
  const send = (method: string, path: string, more: RequestInit = {}) =>
    fetch(`${url}/internal/v1/store${path}`, { method, ...more, headers: { ...headers, ...more.headers } });
  const em = () => plane.control.services.database.em();
  return {
    async ask(method, path, body) {
      const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const reply = await send(method, path, json);
      return { status: reply.status, body: await reply.json() };
    },
    async upload(bytes, fields = {}, name = 'in.jsonl') {
      const form = new FormData();
      for (const [field, value] of Object.entries({ purpose: 'batch', ...fields })) form.set(field, value);
      form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name ?? 'unnamed');
      const reply = await send('POST', '/files', name === null ? await withoutNames(form) : { body: form });
      return { status: reply.status, body: await reply.json() };
    },
    content: async (id) => (await send('GET', `/files/${id}/content`)).text(),
    rows: () => em().find(storedFiles, { organisationId, workspaceId }),
    chunkCount: () => em().count(storedFileChunks, { organisationId }),
  };
}

async function withoutNames(form: FormData): Promise<RequestInit> {
  const encoded = new Response(form);
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  return { headers, body: (await encoded.text()).replaceAll('; filename="unnamed"', '') };
}
