import { hash } from 'node:crypto';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { type ModelTool, serverPrefix } from './tool-format.ts';

/** Maximum length of the name of a function at providers. */
const nameLengthMax = 64;

/**
 * Returns the name of a tool for the model: `<server>__<tool>`. Names that providers would refuse are shortened and end with a digest, so
 * that each tool has one name at all times.
 */
export function modelName(server: string, tool: string): string {
  const full = `${server}__${tool}`;
  const plain = full.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain === full && full.length <= nameLengthMax) return full;
  const digest = hash('sha256', full, 'hex').slice(0, 8);
  return `${plain.slice(0, nameLengthMax - digest.length - 1)}_${digest}`;
}

/** Returns the slug in the name of a server of the gateway; null for other names. Throws GatewayError `bad_request`. */
export function slugOf(name: unknown, path: string): string | null {
  if (!isOurs(name)) return null;
  const slug = name.slice(serverPrefix.length);
  if (/^[A-Za-z0-9_-]{1,255}$/.test(slug)) return slug;
  throw new GatewayError('bad_request', {
    message: `${path}: expected ${serverPrefix} and the slug of an MCP server`,
    param: path,
  });
}

/** Throws GatewayError `bad_request` for a server of the gateway in the field of a URL, where a provider would receive it. */
export function refuseAsUrl(url: unknown, path: string, nameField: string): void {
  if (!isOurs(url)) return;
  throw new GatewayError('bad_request', {
    message: `${path}: a URL is expected. Send ${serverPrefix} and the slug of an MCP server in ${nameField}`,
    param: path,
  });
}

/** Returns tools by their name for the model. */
export function byName(tools: readonly ModelTool[]): ReadonlyMap<string, ModelTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** True for a name of a server whose tools the gateway calls itself. */
export function isOurs(name: unknown): name is string {
  return typeof name === 'string' && name.startsWith(serverPrefix);
}

/** Returns true for the tools of a list in a request, for every tool if there is no list. Throws `bad_request` for other values. */
export function amongNames(names: unknown, path: string): (tool: string) => boolean {
  if (names === undefined || names === null) return () => true;
  if (!Array.isArray(names)) {
    throw new GatewayError('bad_request', { message: `${path}: a list of names of tools is expected`, param: path });
  }
  const allowed = new Set<unknown>(names);
  return (tool) => allowed.has(tool);
}
