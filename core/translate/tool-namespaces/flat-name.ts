import { createHash } from 'node:crypto';

/** Maximum length of the name of a function at most providers. */
const nameLengthMax = 64;

/** Coding agents name MCP tools `<namespace>__<tool>` elsewhere. A longer name is cut, and a digest keeps it distinct. */
export function flatName(namespace: string, name: string): string {
  const flat = namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (flat.length <= nameLengthMax) return flat;
  const digest = createHash('sha256').update(flat).digest('hex').slice(0, 8);
  return `${flat.slice(0, nameLengthMax - 9)}_${digest}`;
}
