import * as v from 'valibot';
import { fetchService, type ServiceAccess } from '../service-access.ts';

/** An error reply of the Admin API. */
export class ApiError extends Error {
  readonly status: number;
  /** The field that the error names; null if it names none. */
  readonly field: string | null;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.field = /^([a-z_]+)[:[.]/.exec(message)?.[1] ?? null;
  }
}

const errorReply = v.object({ data: v.object({ message: v.string() }) });

/** Calls of the Admin API in one workspace. */
export class AdminApi {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /** Returns the reply. Throws ApiError for any status but 200. */
  async ask<Reply>(method: string, path: string, schema: v.GenericSchema<unknown, Reply>, body?: object): Promise<Reply> {
    const { url, key, workspaceId } = this.#access;
    const tenant = workspaceId === null ? {} : { workspace_id: workspaceId };
    const query = body === undefined && workspaceId !== null ? `?workspace_id=${encodeURIComponent(workspaceId)}` : '';
    const response = await fetchService(`${url}/v1${path}${query}`, {
      method,
      headers: { 'x-svc-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify({ ...tenant, ...body }) }),
    });
    const text = await response.text();
    if (response.ok) return v.parse(schema, JSON.parse(text));
    throw new ApiError(response.status, messageOf(text) ?? `${method} ${path}: status ${response.status}`);
  }

  /** Like `ask` for GET; null if there is no such item. */
  async find<Reply>(path: string, schema: v.GenericSchema<unknown, Reply>): Promise<Reply | null> {
    try {
      return await this.ask('GET', path, schema);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }
}

function messageOf(text: string): string | null {
  try {
    const parsed = v.safeParse(errorReply, JSON.parse(text));
    return parsed.success ? parsed.output.data.message : null;
  } catch {
    return null;
  }
}
