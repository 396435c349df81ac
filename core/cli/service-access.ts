import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

/** Address of the service for commands, and the key that they use. */
export interface ServiceAccess {
  /** Base URL without `/v1` and trailing slash. */
  readonly url: string;
  readonly key: string;
  /** Workspace that requests name; null: the key's own. */
  readonly workspaceId: string | null;
}

const firstKeys = v.object({ base_url: v.string(), admin_key: v.string(), workspace_id: v.string() });

/**
 * Reads SVC_URL (with or without `/v1`; default: PORT on this machine, else the address in `first-keys.json`, else port 8787), SVC_ADMIN_KEY and SVC_WORKSPACE
 * from the environment. Without SVC_ADMIN_KEY: the first admin key and its workspace in `first-keys.json` of DATA_DIR. `needs` states the rights of
 * the key for the error.
 */
export async function serviceAccess(needs: string): Promise<ServiceAccess> {
  const path = join(process.env.DATA_DIR || '.data', 'first-keys.json');
  const text = await readFile(path, 'utf8').catch(() => null);
  const first = text === null ? null : v.parse(firstKeys, JSON.parse(text));
  const onMachine = process.env.PORT ? null : first?.base_url;
  const given = process.env.SVC_URL || (onMachine ?? `http://127.0.0.1:${process.env.PORT || 8787}`);
  if (!URL.canParse(given)) throw new Error(`SVC_URL: got ${given}, expected a URL such as http://127.0.0.1:8787`);
  // The base URL of clients ends with `/v1`.
  const url = given.replace(/\/+$/, '').replace(/\/v1$/, '');
  const workspaceId = process.env.SVC_WORKSPACE ?? null;
  if (process.env.SVC_ADMIN_KEY) return { url, key: process.env.SVC_ADMIN_KEY, workspaceId };
  if (first === null) throw new Error(`SVC_ADMIN_KEY: not set, and ${path} cannot be read. Set it to ${needs}`);
  return { url, key: first.admin_key, workspaceId: workspaceId ?? first.workspace_id };
}

/** Sends a request to the service. Rejects with the setting to change if the service cannot be reached. */
export async function fetchService(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    throw new Error(
      `SVC_URL: ${new URL(url).origin} cannot be reached (${code ?? (error as Error).message}). Start the service, or set SVC_URL to its address`,
    );
  }
}
